# SPDX-License-Identifier: Apache-2.0
"""Predictions, graphs and catalogs from Python; none of these needs PyTorch."""

from __future__ import annotations

import copy
import inspect
import json
import pathlib
import pickle
import subprocess
import sys
import threading
import time

import pytest

import foretrain
from foretrain.request import Request, Strategy


@pytest.fixture(scope="module")
def report() -> foretrain.Report:
    return foretrain.predict(
        "resnet50", device="a100", workers=8, batch=128, dataset="imagenet", epochs=90
    )


def test_a_report_has_the_fields_of_the_json_report(report: foretrain.Report) -> None:
    assert report.step_time_s.value > 0
    assert report.step_time_s.low is None or report.step_time_s.low <= report.step_time_s.value
    assert report.memory_bytes.peak <= report.memory_bytes.capacity
    assert report.memory_bytes.fits is True
    assert report.resources.worker.gpu_util.unit == "%"
    assert report.resources.server is None
    assert report.top_operators[0].share >= report.top_operators[-1].share
    assert sum(report.breakdown_s.to_dict().values()) == pytest.approx(report.step_time_s.value)
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()
    assert "step_time_s" in dir(report)
    with pytest.raises(AttributeError, match="it has value, low, high"):
        _ = report.step_time_s.median


def test_reports_are_values(report: foretrain.Report) -> None:
    assert pickle.loads(pickle.dumps(report)) == report == copy.deepcopy(report)
    again = foretrain.predict(
        "resnet50", device="a100", workers=8, batch=128, dataset="imagenet", epochs=90
    )
    assert again == report


def test_representations_say_what_matters(report: foretrain.Report) -> None:
    text, page = repr(report), report._repr_html_()
    for word in ("per step", "samples/s", "memory", "assumed: device 'a100' taken as"):
        assert word in text
    assert "<table>" in page
    assert "slowest operators" in page
    assert "&#x27;a100&#x27;" in page  # escaped


def test_nested_fields_are_dictionaries() -> None:
    network = {"bytes_per_s": 1.25e9, "latency_s": 2e-5}
    strategy = {"kind": "ps", "servers": 2}
    report = foretrain.predict(
        "resnet18", device="t4", batch=32, placement=[1, 1], network=network, strategy=strategy
    )
    assert report.resources.server is not None
    assert report.resources.server.net_tx.unit == "B/s"
    text = foretrain.predict("resnet18", device="t4", workers=2, strategy="ddp", network=None)
    assert text.communication_s > 0


def test_keywords_are_the_fields_of_the_table() -> None:
    table = json.loads(foretrain._core.request_fields_json())
    fields = {row["name"] for row in table}
    inner = {field["name"] for row in table for field in row.get("fields", [])}
    keywords = set(inspect.signature(foretrain.predict).parameters) - {"example_inputs"}
    assert keywords == fields
    assert set(Request.__annotations__) == fields - {"model"}
    assert set(Strategy.__annotations__) == inner
    for name in (fields | inner) - {"model"}:
        assert f"{name}: " in foretrain.predict.__doc__


def test_errors_have_a_kind_and_pass_between_processes() -> None:
    cases = {
        "NotFound": lambda: foretrain.predict("resnet5", device="a100"),
        "BadInput": lambda: foretrain.predict("resnet50", devise="a100"),
        "Unsupported": lambda: foretrain.predict("resnet50", device="k80", precision="fp8"),
        "Io": lambda: foretrain.load("nowhere.ftg.json"),
    }
    for kind, call in cases.items():
        with pytest.raises(foretrain.Error) as caught:
            call()
        assert caught.value.kind == kind
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.kind) == (str(caught.value), kind)
    with pytest.raises(foretrain.Error, match="did you mean 'device'"):
        foretrain.predict("resnet50", devise="a100")
    with pytest.raises(foretrain.Error, match="written as JSON"):
        foretrain.predict("resnet50", device="a100", batch=float("nan"))


def test_plot_without_matplotlib_says_what_to_install(
    report: foretrain.Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(foretrain.Error, match="pip install matplotlib") as caught:
        report.plot()
    assert caught.value.kind == "Unsupported"


def test_plot(report: foretrain.Report) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = report.plot()
    assert len(figure.axes) == 3
    assert "per step" in figure.axes[0].get_title()


def test_graphs_count_at_their_batch(tmp_path: pathlib.Path) -> None:
    graph = foretrain.graph("resnet50", batch=8)
    assert graph.parameters == 25_557_032
    assert graph.batch == 8
    assert graph.at(16).forward_flops == 2 * graph.forward_flops
    assert graph.to_dict()["backward_flops"] == graph.backward_flops
    assert graph.nodes[0].op == "conv"
    assert graph.dot().startswith("digraph")
    assert "25,557,032" in repr(graph)
    assert "<table>" in (graph._repr_html_() or "")
    path = tmp_path / "net.ftg.json"
    graph.save(path)
    assert foretrain.load(path).ftg() == graph.ftg()
    assert foretrain.graph(path).parameters == graph.parameters
    by_path = foretrain.predict(path, device="v100", batch=32)
    assert by_path.step_time_s == foretrain.predict("resnet50", device="v100", batch=32).step_time_s
    with pytest.raises(foretrain.Error, match="no symbol 'seq'; it has batch"):
        graph.bind(seq=3)
    with pytest.raises(foretrain.Error) as caught:
        graph.save(tmp_path / "missing" / "net.ftg.json")
    assert caught.value.kind == "Io"


def test_catalogs_are_sequences_that_find_names() -> None:
    devices = foretrain.devices()
    assert devices["a100"].name == "a100-sxm4-80gb"
    assert devices["a100"].memory_bytes == 80 * 2**30
    assert foretrain.devices("a100 pcie").names() == ["a100-pcie-40gb", "a100-pcie-80gb"]
    assert "resnet50" in foretrain.models("resnet").names()
    assert foretrain.networks()["hdr"].joins == "nodes"
    assert len(foretrain.clouds("aws")) > 3
    assert repr(devices[:2]).startswith("name")
    assert "<table>" in devices._repr_html_()
    with pytest.raises(foretrain.Error, match="no 'a1000'"):
        devices["a1000"]


def test_evaluate_compares_with_measurements(tmp_path: pathlib.Path) -> None:
    step = foretrain.predict("resnet50", device="t4", batch=4).step_time_s.value
    header = (
        "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
        "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes\n"
    )
    row = f"made,f,resnet50,d,t4,1,1,1,n/a,FP32,4,4,step_time,{step / 1.25},s,ddp,none\n"
    (tmp_path / "made.csv").write_text(header + row)
    mapping = {
        "about": "invented",
        "rules": [
            {
                "request": {"model": "{model}", "device": "{gpu}", "batch": "{batch_per_gpu}"},
                "compare": {"number": "step_time_s", "name": "step time"},
            }
        ],
    }
    (tmp_path / "made.json").write_text(json.dumps(mapping))
    result = foretrain.evaluate(tmp_path, by=["device"])
    (group,) = result.to_dict()["groups"]
    assert group["device"] == "t4"
    assert group["mape_percent"] == pytest.approx(25)
    assert "t4" in repr(result)
    assert "<table>" in result._repr_html_()
    with pytest.raises(foretrain.Error):
        foretrain.evaluate(tmp_path / "missing")


def test_hugging_face_configurations_are_models(tmp_path: pathlib.Path) -> None:
    config = {"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12}
    config |= {"n_positions": 1024, "vocab_size": 50257}
    (tmp_path / "config.json").write_text(json.dumps(config))
    for source in (config, tmp_path, tmp_path / "config.json"):
        assert foretrain.from_huggingface(source).parameters == 124_439_808
    with pytest.raises(foretrain.Error, match="no-such-model"):
        foretrain.from_huggingface(config | {"model_type": "no-such-model"})


def test_other_threads_run_while_one_predicts() -> None:
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    start = time.monotonic()
    model = "gpt:layers=400,hidden=64,heads=4,seq=128,vocab=100"
    foretrain.predict(model, device="a100", batch=1)  # a second of work
    end = time.monotonic()
    done.set()
    clock.join()
    assert len([t for t in ticks if start < t < end]) > 2


def test_threads_predict_at_the_same_time() -> None:
    found: list[float] = []

    def work() -> None:
        found.append(foretrain.predict("vgg16", device="v100", batch=32).step_time_s.value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


def test_the_package_does_not_import_torch() -> None:
    program = "import sys, foretrain; foretrain.models(); print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"


def test_the_package_is_typed() -> None:
    assert (pathlib.Path(foretrain.__file__).parent / "py.typed").exists()


def test_effects_of_a_whole_job_are_keywords() -> None:
    job = {"device": "t4", "samples": 80_000, "epochs": 2}
    plain = foretrain.predict("resnet18", **job)
    hit = foretrain.predict(
        "resnet18", **job, evaluate_s=30, checkpoint_s=10, checkpoint_every=300, mtbf_s=4000
    )
    assert plain.total_breakdown_s is None
    assert hit.total_breakdown_s.training == pytest.approx(plain.total_time_s.value)
    assert hit.total_breakdown_s.evaluation == 60
    assert sum(hit.total_breakdown_s.to_dict().values()) == pytest.approx(hit.total_time_s.value)
    with pytest.raises(foretrain.Error, match="'restart_s' needs 'mtbf_s'"):
        foretrain.predict("resnet18", device="t4", restart_s=60)


def test_what_if_ranks_changes_that_predict_confirms() -> None:
    job = {"device": "a100", "workers": 16, "batch": 16, "samples": 100_000, "epochs": 1}
    found = foretrain.what_if("bert-base", **job)
    now = foretrain.predict("bert-base", **job)
    assert found.now.step_time_s == now.step_time_s.value
    speeds = [change.speedup for change in found.what_if]
    assert speeds == sorted(speeds, reverse=True)
    assert any(change.changes == {"precision": "bf16"} for change in found.what_if)
    for change in found.what_if:
        then = foretrain.predict(**change.request)
        gain = now.total_time_s.value - then.total_time_s.value
        assert change.total_time_gain_s == pytest.approx(gain, rel=1e-12)
    assert found.what_if[0].what in repr(found)

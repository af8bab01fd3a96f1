# SPDX-License-Identifier: Apache-2.0
"""Many predictions at once, and simulations; none of these needs PyTorch."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import foretrain

# On one device: a runs 0 to 10, or is stopped by b (1 to 4) under srtf and ends at 13.
TRACE = "job,submit_s,duration_s,devices\na,0,10,1\nb,1,3,1\n"
JOBS = [
    {"job": "a", "submit_s": 0, "duration_s": 10},
    {"job": "b", "submit_s": 1, "duration_s": 3},
]


def test_many_requests_are_answered_in_their_order() -> None:
    requests = [{"model": "mlp", "device": "t4", "batch": batch} for batch in range(1, 40)]
    requests[7] = {"model": "mlp", "device": "t5"}
    requests[8]["workers"] = None  # as if it was not there
    answers = foretrain.predict_many(requests, threads=3)
    assert answers[:7] + answers[8:] == [
        foretrain.predict(**request) for i, request in enumerate(requests) if i != 7
    ]
    assert isinstance(answers[7], foretrain.Error)
    assert answers[7].kind == "NotFound"
    assert foretrain.predict_many([]) == []
    with pytest.raises(foretrain.Error, match="threads"):
        foretrain.predict_many(requests, threads=0)
    with pytest.raises(foretrain.Error, match="JSON"):
        foretrain.predict_many([{"model": float("nan")}])


def test_a_field_varies() -> None:
    variants = foretrain.vary("resnet18", "batch", [8, 16, 0], device="t4")
    assert [v.value for v in variants] == [8, 16, 0]
    assert variants[1].report == foretrain.predict("resnet18", device="t4", batch=16)
    assert variants[2].report is None
    assert variants[2].error.kind == "BadInput"
    job = {"device": "t4", "samples": 1e6, "epochs": 1, "price_per_device_hour": 1.0}
    timed = foretrain.vary("resnet18", "workers", [1, 2, 4], deadline_s=1e6, **job)
    assert [v.within_deadline for v in timed] == [True, True, True]
    costs = [v.report.cost.value for v in timed]
    assert [v.cheapest for v in timed] == [cost == min(costs) for cost in costs]
    assert variants[0].cheapest is None
    for wrong in (0, -1, float("nan")):
        with pytest.raises(foretrain.Error, match="deadline_s"):
            foretrain.vary("resnet18", "workers", [1], deadline_s=wrong, **job)
    servers = foretrain.vary(
        "resnet18", "strategy.servers", [1, 2], device="t4", placement=[1, 1], strategy="ps"
    )
    both = {"kind": "ps", "servers": 2}
    assert servers[1].report == foretrain.predict(
        "resnet18", device="t4", placement=[1, 1], strategy=both
    )
    graph = foretrain.graph("resnet18")
    assert foretrain.vary(graph, "batch", [8], device="t4")[0].report == variants[0].report
    with pytest.raises(foretrain.Error, match="batch"):
        foretrain.vary("resnet18", "bacth", [1], device="t4")


def test_a_trace_is_a_file_its_text_or_its_jobs(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(TRACE)
    result = foretrain.simulate(file, "1x1", "srtf")
    assert result["jct_s"]["mean"] == 8  # 13 and 3
    assert result["preemptions"] == 1
    node = {"devices": 1, "device": "v100-sxm2-16gb"}
    for trace in (str(file), TRACE, JOBS):
        assert foretrain.simulate(trace, {"nodes": [node]}, "srtf")["jct_s"] == result["jct_s"]
    assert foretrain.simulate("generate:jobs=50", "2x4", placement=None)["completed"] == 50


def test_details_of_a_simulation() -> None:
    result = foretrain.simulate(TRACE, "1x1", "fifo", per_job=True, chart=True)
    assert result["per_job"]["job"] == ["a", "b"]
    assert result["per_job"]["queue_s"] == [0, 9]
    assert result["chart"]["devices"] == 1
    assert sum(result["chart"]["devices_in_use"]) * result["chart"]["stretch_s"] == 13
    assert "svg" not in result
    assert result.svg().startswith("<svg")
    assert "b, devices: 1, waits 9.000 s" in result.svg()
    sweep = foretrain.simulate(TRACE, "1x1", sweep=["fifo", "max-min"], seeds=2)["runs"]
    assert [run["policy"] for run in sweep] == ["fifo", "fifo", "max-min", "max-min"]


def test_the_engine_predicts_jobs_with_requests() -> None:
    job = {"submit_s": 0, "devices": 1, "request": {"model": "mlp", "batch": 8, "steps": 1000}}
    result = foretrain.simulate([job], "1x1", durations="engine")
    report = foretrain.predict("mlp", device="v100-sxm2-16gb", batch=8, steps=1000)
    assert result["makespan_s"] == pytest.approx(report.total_time_s.value)


def test_wrong_simulations_are_errors() -> None:
    with pytest.raises(foretrain.Error, match="chart=True"):
        foretrain.simulate(TRACE, "1x1").svg()
    for options, message in (
        ({"policy": "srft"}, "srtf"),
        ({"prediction_error": 2}, "0 to 1"),
        ({"cluster": "nowhere.json"}, "nowhere.json"),
        ({"polisy": "fifo"}, "policy"),
        ({"sweep": ["fifo"], "chart": True}, "one simulation"),
    ):
        with pytest.raises(foretrain.Error, match=message):
            foretrain.simulate(TRACE, **({"cluster": "1x1"} | options))


def test_clp_is_loaded_by_the_policy_that_needs_it() -> None:
    code = (
        "import foretrain\n"
        "maps = lambda: 'libClp' in open('/proc/self/maps').read()\n"
        "foretrain.simulate('generate:jobs=5', '1x1', 'srtf')\n"
        "before = maps()\n"
        "foretrain.simulate('generate:jobs=5', '1x1', 'max-min')\n"
        "print(before, maps())\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.split() == ["False", "True"]

# SPDX-License-Identifier: Apache-2.0
"""Training on Ray, and Foretrain on Ray: the small version, on a Ray of this machine."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import foretrain
from foretrain.ray import __main__ as command
from foretrain.ray import campaign, cluster, parcel, profile, results, run, trainer

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = pathlib.Path(os.environ.get("FORETRAIN_PROGRAM", ROOT / "build/release/foretrain"))
CAMPAIGN = {
    "name": "small",
    "models": ["mlp"],
    "samples": [64],
    "workers": [1, 2],
    "cpus": [0.5],
    "batches": [8],
    "epochs": 2,
}

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed"
)
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def make(**changes: object) -> campaign.Campaign:
    return campaign.make_campaign(CAMPAIGN | changes, "here")


# 2 samples x 3 workers x 1 x 1 x 1 = 6 configurations, twice.
def test_a_campaign_is_the_product_of_its_lists_repeat_by_repeat() -> None:
    made = make(samples=[64, 128], workers=[1, 2, 4], repeats=2)
    assert len(made.configurations) == 6
    runs = made.runs()
    assert [repeat for _, repeat in runs] == [0] * 6 + [1] * 6


def test_keys_and_requests_are_canonical() -> None:
    one = make(cpus=[1.0]).configurations[0]
    assert '"cpus":1,' in one.key()
    assert one.key() == json.dumps(json.loads(one.key()), sort_keys=True, separators=(",", ":"))
    asked = json.loads(one.request(1))
    assert asked["device"] == "cpu:cores=1"
    assert foretrain.predict(**asked).total_time_s.value > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": []}, "'models' is missing"),
        ({"workers": [0]}, "'workers' is no whole number"),
        ({"cpus": [-1]}, "no number of CPUs"),
        ({"sample": [1]}, "unknown field 'sample'; samples?"),
        ({"samples": [8]}, "8 samples are less than one batch of 8 for each of 2 workers"),
        ({"optimizer": "adagrad"}, "'optimizer' is one of sgd"),
        ({"name": ""}, "'name' is missing"),
        ({"jobs": {}}, "'jobs' is no list"),
    ],
)
def test_mistakes_in_a_campaign_are_named(change: dict[str, object], words: str) -> None:
    with pytest.raises(foretrain.Error, match=words.replace("?", r"\?")):
        make(**change)


def test_the_shipped_campaign_has_what_it_promises() -> None:
    shipped = campaign.read_campaign(ROOT / "data/ray/campaign.json")
    assert len(shipped.runs()) >= 150
    assert len({one.model for one in shipped.configurations}) >= 3
    for one in shipped.configurations:
        assert one.samples % (one.workers * one.batch) == 0, one  # every epoch has all samples


def test_variants_are_all_combinations() -> None:
    assert run.variants(["seed=2..4"]) == [{"seed": "2"}, {"seed": "3"}, {"seed": "4"}]
    assert len(run.variants(["a=1..2", "b=x,y,z"])) == 6
    with pytest.raises(foretrain.Error, match="--each takes"):
        run.variants(["seed"])


def test_what_is_sent_is_the_same_bytes_again(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one").write_text("1")
    first = parcel.pack({"a": tmp_path / "a"})
    os.utime(tmp_path / "a/one", (1, 1))
    assert parcel.pack({"a": tmp_path / "a"}) == first
    assert parcel.pack({}).content == b""


# Epochs of 2 and 3 s on one worker, 2.5 and 2 s on the other: the slowest end at 2.5 and 3 s. Steps
# of 1.1, 1.4, 2 and 1 s have the median 1.25 s; two are an epoch.
def test_the_slowest_worker_ends_an_epoch() -> None:
    common = {"cpu_before_s": 1, "exposed_s": None, "parameters": 7, "machine": {},
              "load_before": 0.1, "stolen_s": 0.0, "tries": 1}  # fmt: skip
    seen = [
        common | {"began": 110.0, "epochs_s": [2.0, 3.0], "steps_s": [1.0, 1.0, 2.0, 1.0],
                  "cpu_s": 4.0, "memory_bytes": 10, "sent_bytes": 5, "received_bytes": 6},
        common | {"began": 111.0, "epochs_s": [2.5, 2.0], "steps_s": [1.1, 1.4, 1.0, 1.0],
                  "cpu_s": 3.0, "memory_bytes": 20, "sent_bytes": 7, "received_bytes": 8},
    ]  # fmt: skip
    found = profile.told(seen, 2)
    assert found["epochs_s"] == [2.5, 3.0]
    assert (found["epoch_s"], found["train_s"]) == (2.5, 5.5)
    assert (found["cpu_s"], found["memory_bytes"], found["sent_bytes"]) == (7.0, 20, 12)
    assert profile.told(seen, 1)["sent_bytes"] is None
    assert profile.started(seen, 100.0) == {"startup_s": 11.0, "cpu_startup_s": 2}


def test_a_run_that_lost_its_cores_is_disturbed() -> None:
    one = make().configurations[0]
    seen = {
        "began": 1.0, "epochs_s": [1.0, 1.0], "steps_s": [0.5] * 4, "cpu_s": 1.0, "node": "a",
        "cpu_before_s": 1.0, "exposed_s": None, "parameters": 7, "memory_bytes": 10, "tries": 3,
        "sent_bytes": 0, "received_bytes": 0, "load_before": 0.0, "stolen_s": 0.4,
        "machine": {"name": "m"},
    }  # fmt: skip
    assert profile._found(one, [seen], None).row["status"] == "ok"
    assert profile._found(one, [seen], 0.25).row["status"] == "ok"
    lost = profile._found(one, [seen], 0.1)
    assert (lost.row["status"], lost.details["tries"]) == ("disturbed", 3)
    assert "0.2 cores" in lost.row["message"]


def test_one_start_runs_jobs_that_differ_in_model_samples_and_batch_alone() -> None:
    made = make(workers=[1, 2], samples=[64, 128], repeats=2, per_start=3)
    left = made.runs()
    seen = []
    while left:
        start = made.next_start(left)
        assert len(start) <= 3
        assert len({one.shape() for one, _ in start}) == 1
        left = [run for run in left if run not in start]
        seen += start
    assert sorted(map(str, seen)) == sorted(map(str, made.runs()))


def test_a_process_forgets_its_peak_of_memory() -> None:
    block = bytearray(200_000_000)
    block[::4096] = b"x" * len(block[::4096])
    high = trainer.peak_bytes()
    del block
    trainer.forget_peak()
    assert trainer.peak_bytes() < high - 150_000_000
    assert trainer.busy_cores() >= 0
    assert trainer.stolen_s() >= 0


# Of tries that lost 30, 5 and 10 % of their time the second is kept; 2 % would have ended it.
def test_the_steadiest_try_is_kept() -> None:
    pytest.importorskip("torch")
    lost = iter([0.3, 0.05, 0.1])
    tried = trainer._steady(
        lambda: {"stolen_s": next(lost), "epochs_s": [0.5, 0.5]},
        {"tries": 3, "most_stolen": 0.02},
        1,
    )
    assert (tried["stolen_s"], tried["tries"]) == (0.05, 2)
    lost = iter([0.3, 0.01])
    tried = trainer._steady(
        lambda: {"stolen_s": next(lost), "epochs_s": [1.0]}, {"tries": 3, "most_stolen": 0.02}, 1
    )
    assert tried["tries"] == 2


def test_what_was_measured_goes_into_a_store_and_is_evaluated(tmp_path: pathlib.Path) -> None:
    made = make()
    folder = results.Folder(tmp_path / "out")
    folder.introduce(made, "2026-01-01T00:00:00Z")
    one = made.configurations[1]
    details = {"epoch_s": 2.0, "train_s": 4.0, "startup_s": 9.0, "nodes": 2}
    row = {
        "campaign": made.name, "configuration": one.key(), "setting": "ray2", "repeat": 0,
        "started": "2026-01-01T00:00:00Z", "status": "ok", "steps": 8, "step_median_s": 0.5,
        "details": json.dumps(details), "request": one.request(1),
    }  # fmt: skip
    folder.add(row, {"id": "ray-1", "cores": 2}, [0.5] * 8)
    again = results.Folder(tmp_path / "out")
    assert again.has("small", one.key(), 0)
    assert not again.has("small", one.key(), 1)
    store = tmp_path / "ray.db"
    for rows, skipped in ((1, 0), (0, 1)):  # imported once
        found = {
            f["table"]: f for f in foretrain.import_measurements(tmp_path / "out", store=store)
        }
        assert (found["runs"]["rows"], found["runs"]["skipped"]) == (rows, skipped)
    groups = foretrain.evaluate(store, by=["metric"]).to_dict()["groups"]
    assert {g["metric"] for g in groups} == {
        "step_time, ray2",
        "epoch time, ray2",
        "training time, ray2",
    }
    assert all(g["predicted"] == 1 for g in groups)
    with (tmp_path / "out/ray.csv").open() as file:
        flat = list(csv.DictReader(file))
    assert (flat[0]["train_s"], flat[0]["workers"], flat[0]["samples"]) == ("4", "2", "64")


def test_without_ray_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(cluster.importlib, "import_module", missing)
    words = ["profile", "--model", "mlp", "--samples", "64", "-o", str(tmp_path / "out")]
    assert command.main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install 'ray[train,client]'" in said


# ---- on a Ray of this machine ----


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a Ray that the tests share."""
    with cluster.connected("local", cpus=2) as ray:
        yield ray.get_runtime_context().gcs_address


MARK = f"FORETRAIN_TEST={os.getpid()}"


def program(words: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    name, _, value = MARK.partition("=")
    environment = os.environ | {"FORETRAIN_RAY_PYTHON": sys.executable, name: value}
    return subprocess.run(
        [PROGRAM, *words], capture_output=True, check=False, env=environment, **options
    )  # fmt: skip


def requests(count: int) -> bytes:
    """Some of which cannot be answered; the last line has no end."""
    lines = []
    for i in range(count):
        model = ("mlp", "resnet20-cifar", "nothing")[i % 3 if i % 7 else 2]
        lines.append(json.dumps({"model": model, "device": "t4", "batch": 1 + i % 64}))
    return "\n".join([*lines, "", "{", json.dumps({"model": "mlp", "device": "v100"})]).encode()


@needs_ray
@needs_program
def test_answers_are_the_local_ones_though_a_worker_is_killed(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_bytes(requests(3000))
    local = program(["predict", "--requests", str(file)])
    assert local.returncode == 0
    killed: list[int] = []
    threading.Thread(target=kill_a_piece, args=(killed,), daemon=True).start()
    spread_out = program(["predict", "--requests", str(file), "--on", "local"])
    assert spread_out.returncode == 0, spread_out.stderr
    assert spread_out.stdout == local.stdout
    assert killed


def kill_a_piece(killed: list[int]) -> None:
    """The first worker of our own Ray that does a piece of work."""
    end = time.monotonic() + 300
    while not killed and time.monotonic() < end:
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if (
                    not folder.name.isdigit()
                    or b"ray::do_piece" not in (folder / "cmdline").read_bytes()
                ):
                    continue
                if MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)
                    killed.append(int(folder.name))
                    return
            except OSError:
                continue
        time.sleep(0.01)


@needs_ray
@needs_program
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_sweep_and_an_evaluation_print_what_they_print_locally(
    form: list[str], address: str, tmp_path: pathlib.Path
) -> None:
    sweep = ["simulate", "generate:jobs=60,load=1.2", "--cluster", "2x4", "--seed", "3"]
    sweep += ["--sweep", "fifo,srtf,gittins", "--seeds", "2", *form]
    steps = [
        {"request": {"model": m, "device": "t4", "batch": b}, "step_time_s": 0.01 * b}
        for m in ("mlp", "resnet20-cifar", "nothing")
        for b in (1, 2, 4)
    ]
    data = tmp_path / "steps.jsonl"
    data.write_text("".join(json.dumps(step) + "\n" for step in steps))
    rows = tmp_path / "rows.csv"
    evaluation = ["evaluate", "--data", str(data), "--by", "model", "--rows", str(rows), *form]
    for words in (sweep, evaluation):
        local = program(words)
        written = rows.read_bytes() if rows.exists() else b""
        spread_out = program([*words, "--on", address])
        assert spread_out.stderr == local.stderr == b""
        assert spread_out.stdout == local.stdout
        assert local.stdout
        assert written == (rows.read_bytes() if rows.exists() else b"")


@needs_ray
@needs_program
def test_variants_write_their_files_here(address: str, tmp_path: pathlib.Path) -> None:
    words = ["graph", "mlp:layers={n}", "--ftg", "out-{n}.ftg.json"]
    call = [sys.executable, "-m", "foretrain.ray", "run", "--on", address, "--each", "n=1..2"]
    done = subprocess.run(
        [*call, "--program", PROGRAM, "--", *words], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for n in (1, 2):
        local = tmp_path / "local.ftg.json"
        program(["graph", f"mlp:layers={n}", "--ftg", str(local)])
        assert (tmp_path / f"out-{n}.ftg.json").read_bytes() == local.read_bytes()


@needs_ray
@needs_program
def test_what_cannot_be_spread_is_refused() -> None:
    for words, said in (
        (["predict", "mlp", "--device", "t4"], b"--on spreads the lines of --requests"),
        (["fit", "operators"], b"--each seed=1..5"),
        (["predict", "--requests", "not-there.jsonl"], b"cannot read 'not-there.jsonl'"),
    ):
        done = program([*words, "--on", "local"])
        assert done.returncode in (1, 2)
        assert said in done.stderr
        assert done.stderr.count(b"\n") == 1


@needs_ray
def test_training_on_ray_is_measured_once(address: str, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "campaign.json"
    two = {"workers": [2], "samples": [64, 128], "per_start": 2}
    file.write_text(json.dumps({"format": campaign.FORMAT, "version": 1} | CAMPAIGN | two))
    words = ["profile", str(file), "-o", str(tmp_path / "out"), "--store", str(tmp_path / "s.db")]
    call = [sys.executable, "-m", "foretrain.ray", *words, "--address", address, "--json"]
    first = subprocess.run(call, capture_output=True, check=False)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout) == {"total": 2, "found": 0, "measured": 2, "missing": 0}
    with (tmp_path / "out/ray.csv").open() as flat:
        rows = list(csv.DictReader(flat))
    assert [(row["workers"], row["samples"]) for row in rows] == [("2", "64"), ("2", "128")]
    assert float(rows[0]["startup_s"]) > 0
    assert rows[1]["startup_s"] == ""  # its workers were there already
    for row in rows:
        assert 0 < float(row["epoch_s"]) <= float(row["train_s"])
        assert float(row["cpu_s"]) > 0
        assert float(row["memory_bytes"]) > 50e6  # PyTorch alone takes more
    again = subprocess.run(call, capture_output=True, check=False)
    assert json.loads(again.stdout)["found"] == 2
    groups = foretrain.evaluate(tmp_path / "s.db", by=["metric"]).to_dict()["groups"]
    assert sum(g["predicted"] for g in groups if "training time" in g["metric"]) == 2

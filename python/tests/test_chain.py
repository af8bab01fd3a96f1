# SPDX-License-Identifier: Apache-2.0
"""From a run to a prediction, as docs/run_to_prediction.md shows it."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

import foretrain

PROGRAM = pathlib.Path(
    os.environ.get(
        "FORETRAIN_PROGRAM", pathlib.Path(__file__).parents[2] / "build/release/foretrain"
    )
)

CPU = {"device": "cpu:cores=1", "batch": 64}

# Multiplies and adds in plain Python, several times slower than a network would.
JOB = """
import sys
import foretrain
model, amount, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with foretrain.StepRecorder(
    model, output=output, say=None, warm_up=1, device="cpu:cores=1", batch=64
) as recorder:
    for _ in recorder.steps(range(16)):
        total = 0.0
        for _ in range(amount):
            total = total * 0.5 + 1.0
"""


def profile(model: str, amount: int, steps: pathlib.Path, store: pathlib.Path) -> None:
    """Runs the job as a process of its own under the profiler, which is the command's."""
    command = [PROGRAM, "profile", "--store", store, "--steps", steps, "--"]
    job = [sys.executable, "-c", JOB, model, str(amount), steps]
    subprocess.run([*command, *job], capture_output=True, check=True)


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program foretrain is not built: make build")
def test_a_run_calibrates_the_prediction_of_another(tmp_path: pathlib.Path) -> None:
    """784 x 1024 + 1024 x 1024 weights are 2.8 times those of 512, and so is the work.

    Times are what the machine took, whatever else it did, so the margins are wide: without a
    calibration predictions are off by a factor of several.
    """
    steps, profiled = tmp_path / "steps.jsonl", tmp_path / "profiled.db"
    store, mine = tmp_path / "my.db", tmp_path / "mine.json"
    profile("mlp:hidden=512", 400_000, steps, profiled)
    profile("mlp:hidden=1024", 1_120_000, steps, profiled)
    assert foretrain.evaluate(profiled).total.predicted == 2
    assert foretrain.import_measurements(steps, store=store)[0]["rows"] == 2
    assert foretrain.import_measurements(steps, store=store)[0]["skipped"] == 2

    found = foretrain.calibrate(store, mine, runs=1)
    assert found["models"] == ["mlp:hidden=512"]
    line = json.loads(steps.read_text().splitlines()[0])
    measured_s = line["step_time_s"]
    plain = foretrain.predict("mlp:hidden=512", **CPU).step_time_s.value
    known = foretrain.predict("mlp:hidden=512", predictors=[str(mine)], **CPU).step_time_s.value
    assert abs(known / measured_s - 1) < abs(plain / measured_s - 1)

    before, after = foretrain.evaluate(store), foretrain.evaluate(store, predictors=[mine])
    assert (before.total.predicted, after.total.predicted) == (2, 1)
    assert after.total.mape_percent < before.total.mape_percent


def test_a_trace_needs_its_request(tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"schemaVersion": 1, "traceEvents": []}')
    with pytest.raises(foretrain.Error, match="request"):
        foretrain.import_measurements(trace, store=tmp_path / "my.db")
    assert not (tmp_path / "my.db").exists()  # a failed import makes no store


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program foretrain is not built: make build")
def test_measured_networks_predict_one_that_was_never_run(tmp_path: pathlib.Path) -> None:
    """A step of every measured network takes a millisecond for each sample."""
    models = ("resnet18", "resnet34", "vgg11", "vgg13", "densenet121", "mobilenet_v2")
    rows = [
        {"request": {"model": model, "device": "t4", "batch": batch}, "step_time_s": 1e-3 * batch}
        for model in models
        for batch in (8, 16, 24, 32)
    ]
    steps, mine = tmp_path / "steps.jsonl", tmp_path / "embedding.json"
    steps.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fit = [PROGRAM, "fit", "embedding", "--data", steps, "--leave-out", "model", "-o", mine]
    subprocess.run([*fit, "--method", "linear"], capture_output=True, check=True)
    report = foretrain.predict(
        "vgg16", device="t4", batch=16, predictors=[str(mine)], engine="embedding"
    )
    assert report.to_dict()["engines"]["step_time_s"]["engine"] == "embedding"
    assert report.step_time_s.low <= report.step_time_s.value <= report.step_time_s.high

# SPDX-License-Identifier: Apache-2.0
"""From a run to a prediction, as docs/run_to_prediction.md shows it."""

from __future__ import annotations

import pathlib
import time

import pytest

import foretrain

CPU = {"device": "cpu:cores=1", "batch": 64}


def train(model: str, amount: int, output: pathlib.Path) -> float:
    """Multiplies and adds in plain Python, several times slower than a network would."""
    with foretrain.StepRecorder(model, output=output, say=None, warm_up=1, **CPU) as recorder:
        for _ in recorder.steps(range(9)):
            total = 0.0
            for _ in range(amount):
                total = total * 0.5 + 1.0
    assert recorder.step_time_s is not None
    return recorder.step_time_s


def test_a_run_calibrates_the_prediction_of_another(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """784 x 1024 + 1024 x 1024 weights are 2.8 times those of 512, and so is the work.

    CPU time counts, so that what else the machine does decides nothing.
    """
    monkeypatch.setattr("foretrain.steps.time.perf_counter", time.process_time)
    steps, store, mine = tmp_path / "steps.jsonl", tmp_path / "my.db", tmp_path / "mine.json"
    measured_s = train("mlp:hidden=512", 400_000, steps)
    train("mlp:hidden=1024", 1_120_000, steps)
    assert foretrain.import_measurements(steps, store=store)[0]["rows"] == 2
    assert foretrain.import_measurements(steps, store=store)[0]["skipped"] == 2

    found = foretrain.calibrate(store, mine, runs=1)
    assert found["models"] == ["mlp:hidden=512"]
    plain = foretrain.predict("mlp:hidden=512", **CPU).step_time_s.value
    known = foretrain.predict("mlp:hidden=512", predictors=[str(mine)], **CPU).step_time_s.value
    assert abs(known / measured_s - 1) < abs(plain / measured_s - 1)

    before, after = foretrain.evaluate(store), foretrain.evaluate(store, predictors=[mine])
    assert (before.total.predicted, after.total.predicted) == (2, 1)
    assert after.total.mape_percent < before.total.mape_percent / 2


def test_a_trace_needs_its_request(tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"schemaVersion": 1, "traceEvents": []}')
    with pytest.raises(foretrain.Error, match="request"):
        foretrain.import_measurements(trace, store=tmp_path / "my.db")
    assert not (tmp_path / "my.db").exists()  # a failed import makes no store

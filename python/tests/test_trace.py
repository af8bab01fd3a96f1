# SPDX-License-Identifier: Apache-2.0
"""A trace of torch.profiler calibrates the machine that it was recorded on."""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess

import pytest

torch = pytest.importorskip("torch")

import foretrain  # noqa: E402

PROGRAM = pathlib.Path(
    os.environ.get(
        "FORETRAIN_PROGRAM", pathlib.Path(__file__).parents[2] / "build/release/foretrain"
    )
)
pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="the program foretrain is not built: make build"
)

BATCH = 16


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 32, 3, padding=1),
            torch.nn.BatchNorm2d(32),
            torch.nn.ReLU(),
            torch.nn.Conv2d(32, 64, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(64),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(4),
        )
        self.head = torch.nn.Linear(1024, 10)

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = self.head(self.features(images).flatten(1))
        return torch.nn.functional.cross_entropy(logits, labels)


def record(trace: pathlib.Path, steps: int) -> Network:
    """Trains and records so many steps, after two that warm up."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    images, labels = torch.randn(BATCH, 3, 32, 32), torch.randint(10, (BATCH,))
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=0, warmup=2, active=steps),
        on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(trace)),
        record_shapes=True,
    ) as profiler:
        for _ in range(steps + 2):
            optimizer.zero_grad()
            network(images, labels).backward()
            optimizer.step()
            profiler.step()
    return network


def fit(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "fit", "calibration", *arguments], capture_output=True, text=True, check=False
    )


def predicted_step_s(request: dict[str, object]) -> float:
    """By the program that calibrated."""
    found = subprocess.run(
        [PROGRAM, "predict", "--requests", "-"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    value: float = json.loads(found.stdout)["step_time_s"]["value"]
    return value


def test_a_trace_calibrates_its_machine(tmp_path: pathlib.Path) -> None:
    trace, model, mine = (tmp_path / name for name in ("trace.json", "net.ftg.json", "mine.json"))
    network = record(trace, steps=12)
    inputs = (torch.zeros(BATCH, 3, 32, 32), torch.zeros(BATCH, dtype=torch.long))
    foretrain.from_torch(network, inputs).save(model)
    request = {"model": str(model), "device": "cpu:cores=1", "batch": BATCH, "optimizer": "sgd"}
    found = fit("--trace", str(trace), "--request", json.dumps(request), "-o", str(mine))
    assert found.returncode == 0, found.stderr
    assert "11 steps" in found.stdout  # of twelve, the first left out

    spans = sorted(
        (event["ts"], event["dur"] * 1e-6)
        for event in json.loads(trace.read_text())["traceEvents"]
        if event["name"].startswith("ProfilerStep#")
    )
    measured = statistics.median(duration for _, duration in spans[1:])

    def error(**more: object) -> float:
        return abs(predicted_step_s({**request, **more}) / measured - 1)

    before, after = error(), error(predictors=[str(mine)])
    print(f"step {1e3 * measured:.2f} ms, error {before:.1%} -> {after:.1%}\n{found.stdout}")
    assert after < 0.05
    assert after < before or before < 0.05
    # Both convolutions, norms, activations, the linear layer and their gradients are told apart.
    told = int(found.stdout.split("; ")[1].split(" ")[0])
    assert told >= 10


def test_a_trace_without_steps_is_refused(tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"traceEvents": []}')
    found = fit("--trace", str(trace), "--request", '{"model": "mlp", "device": "t4"}', "-o", str(tmp_path / "x"))
    assert found.returncode == 2
    assert "profiler.step()" in found.stderr
    found = fit("--trace", str(trace), "-o", str(tmp_path / "x"))
    assert found.returncode == 2 and "--request" in found.stderr

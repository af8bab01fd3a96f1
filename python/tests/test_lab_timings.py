# SPDX-License-Identifier: Apache-2.0
"""What the lab's workers time: operators, and collectives between real processes."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
from typing import Any

import pytest
import torch.distributed as dist

import foretrain

PACKAGE = str(pathlib.Path(__file__).parents[1])
sys.path.insert(0, PACKAGE)

from foretrain_lab.time_operators import clock, of_graph, time_one, time_operators
from foretrain_lab.worker import machine

LINEAR = {"op": "linear", "shapes": [[8, 64], [32, 64]], "types": ["f32", "f32"]}
KINDS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "point_to_point"]


def test_the_clock_warms_up_and_counts() -> None:
    calls = []
    times = clock(lambda: calls.append(time.sleep(0.01)), 0.0, 3)
    assert len(times) == 3
    assert len(calls) == 5  # two to warm up
    assert min(times) >= 0.01
    # In 0.05 s there is room for at most five of 0.01 s; the least number comes first.
    assert 1 <= len(clock(lambda: time.sleep(0.01), 0.05, 1)) <= 5
    assert len(clock(lambda: time.sleep(0.01), 0.01, 7)) == 7


def test_an_operator_is_timed_in_both_directions() -> None:
    forward, backward = time_one(LINEAR, 0.001, 5)
    assert forward["direction"] == "forward"
    assert backward["direction"] == "backward"
    for row in (forward, backward):
        assert row["kind"] == "linear"
        assert row["shapes"] == "8x64;32x64"
        assert row["dtype"] == "f32"
        assert row["attributes"] == "{}"
        assert row["time_s"] > 0
        assert row["repeats"] >= 5


def test_more_work_takes_longer() -> None:
    def forward(size: int) -> float:
        entry = LINEAR | {"shapes": [[size, size], [size, size]]}
        return float(time_one(entry, 0.01, 5)[0]["time_s"])

    # 512 times the arithmetic; what every call costs leaves at least 5 times the time.
    assert forward(1024) > 5 * forward(128)


def test_what_cannot_be_timed_does_not_end_the_rest() -> None:
    odd = {"op": "linear", "shapes": [[8, 64], [32, 63]], "types": ["f32", "f32"]}
    unknown = {"op": "opaque", "shapes": [[1]], "types": ["f32"]}
    large = LINEAR | {"shapes": [[10_000, 64], [32, 64]]}
    job = {"operators": [odd, unknown, large, LINEAR], "seconds": 0.0, "repeats": 2}
    answer = time_operators(job | {"most_elements": 100_000})
    assert {row["shapes"] for row in answer["rows"]} == {"8x64;32x64"}
    assert len(answer["skipped"]) == 3
    # 10,000 x 64 + 32 x 64
    assert "642048 elements" in answer["skipped"][2]


def test_a_graph_lists_each_operator_once() -> None:
    graph = json.loads(foretrain.graph("resnet20-cifar").ftg())
    entries = of_graph(graph, 4)
    texts = [json.dumps(entry, sort_keys=True) for entry in entries]
    assert len(set(texts)) == len(texts)
    # Three stages of 3 x 3 convolutions: the first, those within each stage, and two that stride.
    shapes = {tuple(entry["shapes"][1]) for entry in entries if entry["op"] == "conv"}
    assert {(16, 3, 3, 3), (16, 16, 3, 3), (32, 16, 3, 3), (64, 32, 3, 3)} <= shapes
    assert all(entry["shapes"][0][0] == 4 for entry in entries if entry["op"] == "conv")


def start_worker(job: dict[str, Any]) -> subprocess.Popen[str]:
    worker = subprocess.Popen(
        [sys.executable, "-c", "from foretrain_lab.worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": PACKAGE, "GLOO_SOCKET_IFNAME": "lo"},
    )
    assert worker.stdin is not None
    worker.stdin.write(json.dumps(job) + "\n")
    worker.stdin.close()
    worker.stdin = None
    return worker


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.skipif(not dist.is_gloo_available(), reason="this PyTorch has no Gloo")
def test_collectives_are_timed_between_two_processes() -> None:
    job = {
        "kind": "collectives",
        "job": 7,
        "workers": 2,
        "master": f"127.0.0.1:{free_port()}",
        "kinds": KINDS,
        "sizes": [1024, 65536],
        "seconds": 0.01,
        "repeats": 3,
    }
    workers = [start_worker(job | {"rank": rank}) for rank in range(2)]
    try:
        answers = [json.loads(worker.communicate(timeout=120)[0]) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    for answer in answers:
        assert answer["ok"], answer
        assert answer["job"] == 7
        assert answer["skipped"] == []
        timed = [(row["kind"], row["bytes"]) for row in answer["rows"]]
        assert timed == [(kind, size) for kind in KINDS for size in (1024, 65536)]
        assert all(row["time_s"] > 0 and row["repeats"] >= 3 for row in answer["rows"])
    counts = [[row["repeats"] for row in answer["rows"]] for answer in answers]
    assert counts[0] == counts[1]  # every rank takes part in every run


def test_a_job_of_an_unknown_kind_is_answered() -> None:
    worker = start_worker({"kind": "nonsense", "job": 3})
    answer = json.loads(worker.communicate(timeout=120)[0])
    assert answer["ok"] is False
    assert answer["job"] == 3
    assert "nonsense" in answer["error"]


def test_a_worker_knows_its_machine() -> None:
    here = machine()
    assert here["name"]
    assert here["cores"] >= 1
    assert here["memory_bytes"] > 2**20
    assert here["kernel"] == os.uname().release

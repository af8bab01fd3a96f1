# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensor parallel and pipeline modules, and an all-to-all between experts, exchange what
the predicted step does."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import pytest
import torch
from distributed_counts import on_ranks
from parallel_counts import Blocks, expert_parallel, pipelined, tensor_parallel
from predicted_steps import collectives, dumped, program

import foretrain

WIDTH, TOKENS, LAYERS = 16, 8, 4
X = torch.ones(4, TOKENS, WIDTH)


def network() -> Blocks:
    torch.manual_seed(0)
    return Blocks(WIDTH, LAYERS)


def predicted(folder: pathlib.Path, *options: str) -> list[tuple[str, float]]:
    tasks = dumped(foretrain.from_torch(network(), X), folder, "tasks", *options)
    return [(task["name"], task["input_bytes"]) for task in tasks
            if task["kind"] == "communication"]


# Forward each block's sum, backward the gradient of what each block takes but the first, whose
# input learns nothing.
@pytest.mark.parametrize("ranks", [2, 4])
def test_tensor_parallel_blocks_exchange_the_same_bytes(
    ranks: int, tmp_path: pathlib.Path
) -> None:
    ours = predicted(tmp_path, "--workers", str(ranks), "--tensor", str(ranks))
    assert len(ours) == 2 * LAYERS - 1
    for theirs in on_ranks(ranks, lambda rank: tensor_parallel(network, X, ranks)):
        assert ours == theirs


# Of each stage and micro-batch the activations on, and their gradients back.
@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_stages_of_a_pipeline_send_the_same_bytes(
    ranks: int, schedule: str, tmp_path: pathlib.Path
) -> None:
    ours = predicted(tmp_path, "--workers", str(ranks), "--pipeline", str(ranks),
                     "--micro-batch", "1", "--schedule", schedule)
    stages = on_ranks(ranks, lambda rank: pipelined(network, X, rank, ranks, 4, schedule))
    for rank, theirs in enumerate(stages):
        mine = [bytes_ for name, bytes_ in ours if f"from stage {rank} to" in name]
        assert sorted(mine) == sorted(bytes_ for kind, bytes_ in theirs if kind == "send")
        assert {kind for kind, _ in theirs} == {"send"}
    assert len(ours) == 2 * 4 * (ranks - 1)


# Tokens of 4 samples to two of four experts each and back, forward and backward.
def test_experts_exchange_the_same_bytes() -> None:
    layers, experts, active, ffn = 2, 4, 2, 32
    model = (f"llama:layers={layers},hidden={WIDTH},heads=2,ffn={ffn},seq={TOKENS},vocab=32,"
             f"experts={experts},active={active}")
    job = [program(), "predict", model, "--device", "a100", "--batch", "4", "--workers", "2",
           "--expert", "2", "--dump", "tasks"]
    tasks: Any = json.loads(subprocess.run(job, capture_output=True, check=True).stdout)
    ours = [(kind, bytes_) for kind, bytes_, _ in collectives(tasks) if kind == "all_to_all"]
    shape = (4, TOKENS, WIDTH)
    for theirs in on_ranks(2, lambda rank: expert_parallel(shape, ffn, experts, active, layers)):
        assert ours == theirs
    assert len(ours) == 4 * layers

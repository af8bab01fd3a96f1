# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's sharded data parallelism exchanges and keeps is what the predicted step does."""

from __future__ import annotations

import pathlib
from collections import Counter
from typing import Any

import pytest
import torch
from block_networks import TOKENS, GatedBlock, Stack, tokens
from distributed_counts import fully_sharded, on_ranks, zero_redundancy
from predicted_steps import collectives, dumped, most_bytes

import foretrain


def network() -> Stack:
    torch.manual_seed(0)
    return tokens(lambda: GatedBlock(32))


def checkpointed() -> Stack:
    module = network()
    module.checkpoints = True
    return module


def predicted(folder: pathlib.Path, stage: str, *options: str) -> Any:
    return dumped(foretrain.from_torch(network(), TOKENS), folder, stage, *options)


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("ranks", [2, 3])  # 3 divides no parameter: shards are padded
def test_fsdp_exchanges_the_same_bytes(ranks: int, recompute: str, tmp_path: pathlib.Path) -> None:
    options = ["--strategy", "fsdp", "--workers", str(ranks), "--recompute", recompute]
    ours = collectives(predicted(tmp_path, "tasks", *options))
    make = checkpointed if recompute == "full" else network
    for theirs in on_ranks(ranks, lambda rank: fully_sharded(make, TOKENS)):
        given = [(kind, bytes_) for kind, bytes_, _ in theirs["collectives"]]
        assert [(kind, bytes_) for kind, bytes_, _ in ours] == given
        assert [taken for kind, _, taken in ours if kind == "reduce_scatter"] == [
            taken for kind, _, taken in theirs["collectives"] if kind == "reduce_scatter"
        ]


def test_fsdp_gathers_half_precision_and_sums_in_fp32(tmp_path: pathlib.Path) -> None:
    options = ["--strategy", "fsdp", "--workers", "2", "--precision", "bf16"]
    ours = collectives(predicted(tmp_path, "tasks", *options))
    theirs = on_ranks(2, lambda rank: fully_sharded(network, TOKENS, half=True))[0]["collectives"]
    assert [kind for kind, _, _ in ours] == [kind for kind, _, _ in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        # What is gathered is cast from fp32 shards first: compared by what comes out.
        assert mine[2] == other[2]
        assert mine[0] == "all_gather" or mine[1] == other[1]


@pytest.mark.parametrize("recompute", ["none", "full"])
def test_fsdp_has_as_many_whole_parameters_at_once(
    recompute: str, tmp_path: pathlib.Path
) -> None:
    options = ["--strategy", "fsdp", "--workers", "2", "--recompute", recompute]
    storages = predicted(tmp_path, "memory", *options)
    make = checkpointed if recompute == "full" else network
    theirs = on_ranks(2, lambda rank: fully_sharded(make, TOKENS))[0]
    assert most_bytes(storages, "parameters", "all_gather") == theirs["whole_bytes"]
    shards = sum(s["bytes"] for s in storages if s["part"] == "parameters" and s["first"] is None)
    assert shards == theirs["shard_bytes"]


def test_zero1_broadcasts_the_same_bytes_and_keeps_the_same_states(tmp_path: pathlib.Path) -> None:
    options = ["--strategy", "zero1", "--workers", "2", "--optimizer", "adam"]
    ours = collectives(predicted(tmp_path, "tasks", *options))
    sent = Counter(bytes_ for kind, bytes_, _ in ours if kind == "broadcast")
    storages = predicted(tmp_path, "memory", *options)
    states = sum(s["bytes"] for s in storages if s["part"] == "optimizer" and s["last"] is None)
    ranks = on_ranks(2, lambda rank: zero_redundancy(network, TOKENS))
    for theirs in ranks:
        assert Counter(bytes_ for _, bytes_, _ in theirs["collectives"]) == sent
    assert states == max(theirs["state_bytes"] for theirs in ranks)

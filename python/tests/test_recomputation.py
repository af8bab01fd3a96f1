# SPDX-License-Identifier: Apache-2.0
"""What PyTorch saves and runs again with gradient checkpointing, and what DDP then exchanges, is
what the predicted step holds: exactly."""

from __future__ import annotations

import pathlib
from typing import Any

import block_networks
import pytest
import torch
from block_networks import NETWORKS, Stack
from distributed_counts import ddp_buckets, on_ranks
from predicted_steps import collectives, dumped
from torch import Tensor
from torch_counts import recomputed_operators, saved_bytes

import foretrain

PRECISIONS = ("fp32", "bf16")
# PyTorch's names of the operators that are compared, and ours.
NAMES = {
    "addmm": "linear",
    "mm": "linear",
    "bmm": "matmul",
    "convolution": "conv",
    "native_layer_norm": "layer_norm",
    "native_batch_norm": "batch_norm",
    "native_dropout": "dropout",
    "gelu": "gelu",
    "silu": "silu",
    "relu_": "relu",
    "sigmoid": "sigmoid",
    "_softmax": "softmax",
    "_scaled_dot_product_flash_attention_for_cpu": "attention",
}


def network(name: str) -> tuple[Stack, tuple[Tensor, Tensor]]:
    torch.manual_seed(0)
    make, inputs = NETWORKS[name]
    return make().train(), inputs


def options_of(precision: str, recompute: str) -> list[str]:
    return ["--precision", precision, "--attention", "flash", "--recompute", recompute]


def kept_for_backward(storages: list[dict[str, Any]]) -> int:
    """Inputs, which all are saved here, and what lives from forward into backward."""
    total = 0
    for storage in storages:
        if storage["part"] != "activations":
            continue
        first, last = storage["first"], storage["last"]
        lives_on = last is not None and last["phase"] in ("backward", "recompute")
        if first is None or (first["phase"] == "forward" and lives_on):
            total += storage["bytes"]
    return total


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_saved_bytes_are_those_of_autograd(
    name: str, precision: str, recompute: str, tmp_path: pathlib.Path
) -> None:
    module, inputs = network(name)
    graph = foretrain.from_torch(module, inputs)
    module.checkpoints = recompute == "full"
    theirs = saved_bytes(module, inputs, precision)
    storages = dumped(graph, tmp_path, "memory", *options_of(precision, recompute))
    assert kept_for_backward(storages) == theirs


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_the_same_operators_run_again(name: str, precision: str, tmp_path: pathlib.Path) -> None:
    module, inputs = network(name)
    step = dumped(
        foretrain.from_torch(module, inputs), tmp_path, "graph", *options_of(precision, "full")
    )
    ours: dict[str, list[str]] = {}  # of each block, in the order of the backward pass
    for node in step["nodes"]:
        if node.get("phase") == "recompute":
            block = ".".join(node["scope"].split(".")[:2])
            ours.setdefault(block, []).append(node["op"])
    module.checkpoints = True
    theirs = recomputed_operators(module, inputs, precision)
    compared = set(NAMES.values())
    assert list(ours) == [f"layers.{i}" for i in reversed(range(len(module.layers)))]
    for mine, run in zip(ours.values(), theirs, strict=True):
        assert [op for op in mine if op in compared] == [NAMES[op] for op in run if op in NAMES]


def wide_network() -> Stack:
    """3.8 MB of parameters: more than DDP's first bucket."""
    torch.manual_seed(0)
    return block_networks.tokens(lambda: block_networks.GatedBlock(160), 4, width=160)


def checkpointed() -> Stack:
    module = wide_network()
    module.checkpoints = True
    return module


def test_ddp_exchanges_the_same_buckets_with_checkpoints(tmp_path: pathlib.Path) -> None:
    inputs = block_networks.TOKENS
    graph = foretrain.from_torch(wide_network(), inputs)
    tasks = dumped(graph, tmp_path, "tasks", "--workers", "2", "--recompute", "full")
    ours = [given for _, given, _ in collectives(tasks)]
    theirs = on_ranks(2, lambda rank: ddp_buckets(checkpointed, inputs))
    assert len(ours) > 1
    assert theirs == [ours, ours]

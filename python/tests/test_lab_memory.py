# SPDX-License-Identifier: Apache-2.0
"""The memory log of the lab's workers against what can be counted by hand and in the graph."""

from __future__ import annotations

import json
import pathlib
import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

import foretrain

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from foretrain_lab import activity
from foretrain_lab.interpreter import FtgModule
from foretrain_lab.train import make_optimizer

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="the memory log is compiled with g++"
)


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    source = pathlib.Path(activity.__file__).with_name("activity.cc")
    activity.load(source.read_text(encoding="utf-8"))


def moved(work: Callable[[], Any]) -> tuple[float, Any]:
    """Bytes that operators moved meanwhile, and what the work returned."""
    activity.start_log(0.002)
    result = work()
    log = activity.stop_log()
    assert log is not None
    return sum(log[1]), result


def test_a_linear_layer_moves_its_tensors() -> None:
    layer = torch.nn.Linear(64, 32)
    data = torch.randn(128, 64, requires_grad=True)
    # 128x64 in, 64x32 and 32 parameters, 128x32 out, 4 bytes each.
    forward, output = moved(lambda: layer(data))
    assert forward == pytest.approx(4 * (128 * 64 + 64 * 32 + 32 + 128 * 32))
    # Three operators: the gradient (128x32) and the weights make the input's, the gradient and the
    # input the weights', the gradient the bias'.
    gradient = torch.randn_like(output)
    backward, _ = moved(lambda: output.backward(gradient))
    of_input = 128 * 32 + 64 * 32 + 128 * 64
    assert backward == pytest.approx(4 * (of_input + of_input + 128 * 32 + 32))


def test_an_update_reads_and_writes_parameters_and_states() -> None:
    layer = torch.nn.Linear(64, 32, bias=False)
    layer.weight.grad = torch.ones_like(layer.weight)
    optimizer = make_optimizer("momentum", layer.parameters())
    optimizer.step()  # makes its state
    # momentum *= m: 2 passes; momentum += g: 3; weights += momentum: 3.
    update, _ = moved(optimizer.step)
    assert update == pytest.approx(8 * 4 * 64 * 32, rel=1e-3)  # and a scalar


def both_passes(name: str, batch: int) -> tuple[float, float, float]:
    """Bytes of forward, of backward, and of both by the graph's counts."""
    graph = foretrain.graph(name)
    module = FtgModule(json.loads(graph.ftg()), batch)
    inputs = module.inputs()
    module(*inputs).backward()  # gradients are there from now on
    for parameter in module.parameters():
        parameter.grad = None
    forward, loss = moved(lambda: module(*inputs))
    backward, _ = moved(loss.backward)
    nodes = graph.at(batch).to_dict()["nodes"]
    counted = sum(node["read_bytes"] + node["written_bytes"] for node in nodes)
    return forward, backward, counted


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("mlp", 0.97, 1.03),
        ("resnet20-cifar", 0.78, 1.0),  # our graph counts what a GPU's batch norm reads twice
        ("random:family=cnn,seed=2", 0.85, 1.0),
        ("squeezenet1_1:image=64", 0.85, 1.0),
        # Copies of attention's heads into one piece, which the graph leaves to the views.
        ("random:family=transformer,seed=1,seq=16", 1.0, 1.2),
        ("gpt:layers=2,hidden=64,heads=4,seq=16,vocab=500", 1.0, 1.4),
        # A CPU reads the weights of a recurrent layer once each step, our graph once for all 16.
        ("random:family=lstm,seed=3,seq=16", 4.0, 16.0),
    ],
)
def test_bytes_of_a_step_agree_with_the_graph(name: str, low: float, high: float) -> None:
    forward, backward, counted = both_passes(name, batch=8)
    assert backward > forward  # a log that misses the backward pass says zero here
    assert low <= (forward + backward) / counted <= high

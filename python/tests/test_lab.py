# SPDX-License-Identifier: Apache-2.0
"""The lab's workers: a graph runs as the module that it describes."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest
import torch

import foretrain

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from foretrain_lab import wire
from foretrain_lab.data import DataSet
from foretrain_lab.interpreter import FtgModule
from foretrain_lab.operators import BUILDERS, Unsupported

MODELS = [
    "resnet20-cifar",
    "densenet40-k12",
    "mobilenet_v3_small:image=32",
    "shufflenet_v2_x0_5:image=64",
    "squeezenet1_1:image=64",
    "swin_t:image=32",
    "convnext_tiny:image=32",
    "lstm-lm:vocab=500",
    "gpt:layers=2,hidden=64,heads=4,seq=16,vocab=500",
    "llama:layers=2,hidden=64,heads=4,kv_heads=2,ffn=128,seq=16,vocab=500",
    "mlp",
    *(f"random:family={f},seed={s}" for f in ("cnn", "mlp") for s in range(4)),
    *(f"random:family={f},seed={s},seq=8" for f in ("lstm", "transformer") for s in range(4)),
]


def module_of(name: str, batch: int = 2) -> FtgModule:
    return FtgModule(json.loads(foretrain.graph(name).ftg()), batch)


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_runs_with_its_parameters_and_shapes(name: str) -> None:
    module = module_of(name)
    assert sum(p.numel() for p in module.parameters()) == foretrain.graph(name).parameters
    inputs = module.inputs()
    shapes = [list(output.shape) for output in module.outputs(*inputs)]
    assert shapes == module.output_shapes()
    loss = module(*inputs)
    assert torch.isfinite(loss)
    loss.backward()
    assert all(p.grad is not None for p in module.parameters())


def test_a_captured_module_computes_the_same() -> None:
    """The interpreter with a module's own weights gives what the module gives."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(8 * 4 * 4, 5),
    )
    images = torch.randn(2, 3, 16, 16)
    graph = json.loads(foretrain.from_torch(net, (images,)).ftg())
    module = FtgModule(graph, 2)
    weights = dict(net.named_parameters())
    names = [t["name"] for t in graph["tensors"] if t.get("role") == "parameter"]
    with torch.no_grad():
        for parameter, name in zip(module.parameters(), names, strict=True):
            parameter.copy_(weights[name])
    net.train()
    torch.testing.assert_close(module.outputs(images)[0], net(images))


def test_an_unknown_operator_is_refused() -> None:
    graph = {
        "tensors": [{"name": "x", "shape": [1], "role": "input"}, {"shape": [1]}],
        "nodes": [{"op": "opaque", "inputs": ["x"], "outputs": [1]}],
    }
    with pytest.raises(Unsupported, match="opaque"):
        FtgModule(graph, 1)


def test_every_operator_of_the_forward_pass_is_known() -> None:
    table = pathlib.Path(__file__).parents[2] / "foretrain/graph/op_table.cc"
    names = [line.split('"')[1] for line in table.read_text().splitlines() if "{K::" in line]
    backward = set(names[names.index("conv_input_grad") :])
    by_request = {"dequantize"}  # weights are quantised by a request, in no model's graph
    assert set(BUILDERS) == set(names) - backward - by_request


def test_variables_are_spread_by_bytes() -> None:
    # 8 to the first, 2 and 3 to the second (5 < 8), 4 to the second (9), 1 to the first.
    assert wire.assign([8, 2, 3, 4, 1], 2) == [0, 1, 1, 1, 0]
    assert wire.assign([5, 5], 1) == [0, 0]


def test_a_data_set_gives_each_sample_once() -> None:
    module = module_of("mlp", batch=4)
    data = DataSet(module, samples=12, batch=4)
    parts = data.epoch()
    assert sorted(int(i) for part in parts for i in part) == list(range(12))
    inputs = data.batch(parts[0])
    assert [list(x.shape) for x in inputs] == [list(x.shape) for x in module.inputs()]
    module(*inputs).backward()

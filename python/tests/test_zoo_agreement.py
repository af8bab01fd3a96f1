# SPDX-License-Identifier: Apache-2.0
"""The same model from PyTorch, from its ONNX export and from the zoo is predicted alike."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import networks
import pytest
import torch
from networks import parameter_count
from torch import nn
from torch.export import Dim
from vision_networks import AlexNet, MobileNetV2, ResNet50, VitB32

import foretrain

IMAGE_NETWORKS = {
    "resnet50": ResNet50,
    "mobilenet_v2": MobileNetV2,
    "alexnet": AlexNet,
    "vit_b_32": VitB32,
}
REQUESTS: dict[str, dict[str, Any]] = {
    "resnet50": {"device": "v100", "workers": 8, "batch": 64},
    "mobilenet_v2": {"device": "t4", "batch": 64},
    "alexnet": {"device": "v100", "batch": 128},
    "vit_b_32": {"device": "a100", "batch": 256},
    "gpt2": {"device": "a100", "batch": 8, "precision": "bf16"},
}


def made(name: str) -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """A model of the zoo in plain PyTorch, and inputs for it."""
    if name == "gpt2":
        tokens = torch.zeros(2, 1024, dtype=torch.long)
        return networks.Gpt2(), (tokens, tokens)
    images, classes = torch.zeros(2, 3, 224, 224), torch.zeros(2, dtype=torch.long)
    return networks.WithLoss(IMAGE_NETWORKS[name]()), (images, classes)


def agree(graph: foretrain.Graph, name: str, *, in_memory: bool = True) -> None:
    """Parameters, FLOPs, time and memory are those of the zoo's model."""
    built, request = foretrain.graph(name), REQUESTS[name]
    assert graph.notes == []
    assert graph.parameters == built.parameters
    assert graph.at(1).forward_flops == pytest.approx(built.forward_flops, rel=0.005)
    assert graph.at(1).backward_flops == pytest.approx(built.backward_flops, rel=0.005)
    ours, theirs = foretrain.predict(graph, **request), foretrain.predict(name, **request)
    assert ours.step_time_s.value == pytest.approx(theirs.step_time_s.value, rel=0.03)
    if in_memory:
        assert ours.memory_bytes.allocated == pytest.approx(theirs.memory_bytes.allocated, rel=0.03)


@pytest.mark.parametrize("name", REQUESTS)
def test_from_pytorch(name: str) -> None:
    with torch.device("meta"):
        module, inputs = made(name)
    graph = foretrain.from_torch(module, inputs)
    assert graph.parameters == parameter_count(module)
    agree(graph, name)


EXPORTS = [
    *((name, "torchscript") for name in IMAGE_NETWORKS),
    *(("resnet50", "dynamo"), ("vit_b_32", "dynamo")),
]


@pytest.mark.parametrize(("name", "exporter"), EXPORTS)
def test_from_onnx(name: str, exporter: str, tmp_path: pathlib.Path) -> None:
    """Exported in training mode, so that batch norms and dropout are what they are in training."""
    pytest.importorskip("onnxscript" if exporter == "dynamo" else "onnx")
    options: dict[str, Any] = {
        "torchscript": {"dynamic_axes": {"x": {0: "batch"}, "target": {0: "batch"}}},
        # Attention is one operator since opset 23; the optimizer would fold batch norms.
        "dynamo": {
            "dynamic_shapes": [{0: Dim("batch")}] * 2,
            "opset_version": 23,
            "optimize": False,
        },
    }[exporter]
    path = tmp_path / "model.onnx"
    module, inputs = made(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.train(),
            inputs,
            str(path),
            dynamo=exporter == "dynamo",
            input_names=["x", "target"],
            training=torch.onnx.TrainingMode.TRAINING,
            do_constant_folding=False,
            verbose=False,
            **options,
        )
    # This file spells attention out, so its scores are kept, as they are where a file is run.
    spelled_out = (name, exporter) == ("vit_b_32", "torchscript")
    agree(foretrain.load(path), name, in_memory=not spelled_out)


@pytest.mark.slow
def test_llama_of_70_billion_parameters_is_captured_in_proportion_and_little_memory() -> None:
    """In a process of its own. Its peak is the kernel's VmHWM: what getrusage says of a new process
    begins at the memory of the one that started it."""
    import json
    import subprocess
    import sys

    program = """
import json, re, sys, time
sys.path.insert(0, sys.argv[1])
import networks, torch, foretrain
with torch.device("meta"):
    small, module = networks.Llama(layers=8), networks.Llama()
tokens = torch.empty(1, 4096, dtype=torch.long, device="meta")

def captured(network):
    start = time.process_time()
    return foretrain.from_torch(network, (tokens, tokens)), time.process_time() - start

captured(small)  # what is done once in a process
small_s = captured(small)[1]
graph, whole_s = captured(module)
report = foretrain.predict(graph, device="h100", workers=8, batch=1, precision="bf16")
status = open("/proc/self/status").read()
print(json.dumps({
    "times_small": whole_s / small_s,
    "memory_bytes": 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]),
    "parameters": graph.parameters,
    "counted": networks.parameter_count(module),
    "forward_flops": graph.at(1).forward_flops,
    "step_time_s": report.step_time_s.value,
    "notes": graph.notes,
}))
"""
    folder = networks.__file__.rpartition("/")[0]
    command = [sys.executable, "-c", program, folder]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    print(found)
    built = foretrain.graph("llama2-70b")
    request = {"device": "h100", "workers": 8, "batch": 1, "precision": "bf16"}
    assert found["notes"] == []
    assert found["parameters"] == found["counted"] == built.parameters == 68_976_648_192
    assert found["forward_flops"] == pytest.approx(built.forward_flops, rel=0.005)
    step = foretrain.predict("llama2-70b", **request).step_time_s.value
    assert found["step_time_s"] == pytest.approx(step, rel=0.03)
    # Ten times the layers; a way that grows with their square would take up to a hundred times.
    assert found["times_small"] < 20
    assert found["memory_bytes"] < 2e9

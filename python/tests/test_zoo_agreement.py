# SPDX-License-Identifier: Apache-2.0
"""The same model from PyTorch and from the zoo is predicted alike."""

from __future__ import annotations

import networks
import pytest
import torch
from networks import parameter_count
from torch import nn

import foretrain


def agree(
    module: nn.Module, inputs: tuple[torch.Tensor, ...], name: str, **request: object
) -> None:
    captured = foretrain.from_torch(module, inputs)
    built = foretrain.graph(name)
    assert captured.notes == []
    assert captured.parameters == built.parameters == parameter_count(module)
    assert captured.at(1).forward_flops == pytest.approx(built.forward_flops, rel=0.005)
    assert captured.at(1).backward_flops == pytest.approx(built.backward_flops, rel=0.005)
    ours = foretrain.predict(captured, **request)
    theirs = foretrain.predict(name, **request)
    assert ours.step_time_s.value == pytest.approx(theirs.step_time_s.value, rel=0.03)
    assert ours.memory_bytes.allocated == pytest.approx(theirs.memory_bytes.allocated, rel=0.03)


def test_resnet50() -> None:
    images, classes = torch.zeros(2, 3, 224, 224), torch.zeros(2, dtype=torch.long)
    with torch.device("meta"):
        module = networks.WithLoss(networks.ResNet50())
    agree(module, (images, classes), "resnet50", device="v100", workers=8, batch=64)


def test_gpt2() -> None:
    tokens = torch.zeros(1, 1024, dtype=torch.long)
    with torch.device("meta"):
        module = networks.Gpt2()
    agree(module, (tokens, tokens), "gpt2", device="a100", batch=8, precision="bf16")


@pytest.mark.slow
def test_llama_of_70_billion_parameters_is_captured_in_seconds_and_little_memory() -> None:
    """In a process of its own, whose memory is counted from the start."""
    import json
    import subprocess
    import sys

    program = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
import networks, torch, foretrain
with torch.device("meta"):
    module = networks.Llama()
tokens = torch.empty(1, 4096, dtype=torch.long, device="meta")
start, begin = time.process_time(), time.monotonic()
graph = foretrain.from_torch(module, (tokens, tokens))
report = foretrain.predict(graph, device="h100", workers=8, batch=1, precision="bf16")
print(json.dumps({
    "cpu_s": time.process_time() - start,
    "wall_s": time.monotonic() - begin,
    "memory_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
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
    # One thread does it all, so these are its seconds on a machine without other work.
    assert found["cpu_s"] < 30
    assert found["memory_bytes"] < 2e9

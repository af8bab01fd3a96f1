# SPDX-License-Identifier: Apache-2.0
"""Models of torchvision and Hugging Face come in whole, where those packages are installed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from foretrain.torch_check import graph_flops, pytorch_flops
from networks import WithLoss, parameter_count
from torch import nn

import foretrain

TORCHVISION = ("resnet18", "mobilenet_v3_small", "efficientnet_b0", "vit_b_32", "swin_t")
HUGGING_FACE: dict[str, dict[str, Any]] = {
    "gpt2": {"n_layer": 2, "n_embd": 128, "n_head": 2},
    "llama": {"num_hidden_layers": 2, "hidden_size": 128, "intermediate_size": 256}
    | {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000},
}


def come_in_whole(module: nn.Module, inputs: Any) -> foretrain.Graph:
    graph = foretrain.from_torch(module, inputs)
    assert graph.parameters == parameter_count(module)
    assert graph.fixed_batch is None
    theirs, ours = pytorch_flops(module, inputs), graph_flops(graph)
    assert ours[0] == pytest.approx(theirs[0], rel=0.01)
    assert ours[1] == pytest.approx(theirs[1], rel=0.01)
    return graph


@pytest.mark.parametrize("name", TORCHVISION)
def test_torchvision(name: str) -> None:
    models = pytest.importorskip("torchvision.models")
    with torch.device("meta"):
        module = WithLoss(models.get_model(name, weights=None))
    inputs = (torch.zeros(2, 3, 224, 224), torch.zeros(2, dtype=torch.long))
    graph, built = come_in_whole(module, inputs), foretrain.graph(name)
    assert graph.parameters == built.parameters
    assert graph.at(1).forward_flops == pytest.approx(built.forward_flops, rel=0.005)


@pytest.mark.parametrize("name", HUGGING_FACE)
def test_hugging_face(name: str) -> None:
    transformers = pytest.importorskip("transformers")
    # With masks and plain attention nothing looks at values, so that it runs without memory.
    options = {"use_cache": False, "attn_implementation": "eager"}
    config = transformers.AutoConfig.for_model(name, **options, **HUGGING_FACE[name])
    with torch.device("meta"):
        module = transformers.AutoModelForCausalLM.from_config(config)
    tokens = torch.zeros(2, 32, dtype=torch.long)
    inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}
    graph = come_in_whole(module, inputs)
    assert graph.parameters == foretrain.from_huggingface(config).parameters

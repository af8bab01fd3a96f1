# SPDX-License-Identifier: Apache-2.0
"""Modules in plain PyTorch come in whole."""

from __future__ import annotations

import json
import pathlib

import networks
import pytest
import torch
from foretrain.torch_check import graph_flops, joint_flops, pytorch_flops
from networks import parameter_count
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import foretrain

IMAGES = (torch.zeros(2, 3, 64, 64), torch.zeros(2, dtype=torch.long))
TOKENS = (torch.zeros(3, 32, dtype=torch.long), torch.zeros(3, dtype=torch.long))
NETWORKS = {
    "branches": (networks.Branches, IMAGES),
    "separable": (networks.Separable, IMAGES),
    "recurrent": (networks.Recurrent, TOKENS),
    "encoder": (networks.Encoder, TOKENS),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_comes_in_whole(name: str) -> None:
    make, inputs = NETWORKS[name]
    module = networks.WithLoss(make())
    graph = foretrain.from_torch(module, inputs)
    assert graph.parameters == parameter_count(module)
    assert graph.symbols == ["batch"]
    assert graph.notes == []
    theirs, ours = pytorch_flops(module, inputs), graph_flops(graph)
    assert ours[0] == pytest.approx(theirs[0], rel=0.01)
    assert ours[1] == pytest.approx(theirs[1], rel=0.01)
    if name != "recurrent":  # PyTorch's joint graph has every step of it, which takes long
        assert sum(ours) == pytest.approx(joint_flops(module, inputs), rel=0.01)
    # One graph for every batch: five times the samples are five times the work.
    batch = len(inputs[0])
    assert graph.at(5 * batch).forward_flops == pytest.approx(5 * graph.at(batch).forward_flops)
    assert foretrain.predict(graph, device="a100", batch=16).step_time_s.value > 0


def test_attention_is_one_operator_whose_backward_computes_scores_again() -> None:
    module = networks.WithLoss(networks.Encoder())
    graph = foretrain.from_torch(module, TOKENS)
    forward = [node for node in graph.nodes if node.op == "attention"]
    backward = [node for node in graph.nodes if node.op == "attention_grad"]
    assert len(forward) == len(backward) == 2
    # Two GEMMs of 3 x 4 heads x 32 x 32 x 64, then five.
    assert forward[0].flops == 2 * 2 * 3 * 4 * 32 * 32 * 64
    assert backward[0].flops == 2.5 * forward[0].flops


def test_nodes_and_parameters_are_named_by_their_layers() -> None:
    graph = foretrain.from_torch(networks.WithLoss(networks.Separable()), IMAGES)
    assert "network.stem.0" in {node.scope for node in graph.nodes}
    assert "network.blocks.1.1.0.weight" in {tensor.get("name") for tensor in graph.tensors()}


def test_shared_tensors_count_once_and_buffers_are_apart() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(8, 8)
            self.second = nn.Linear(8, 8, bias=False)
            self.second.weight = self.first.weight
            self.unused = nn.Parameter(torch.zeros(5))
            self.register_buffer("scale", torch.ones(8))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x)) * self.scale

    graph = foretrain.from_torch(Tied(), torch.zeros(4, 8))
    assert graph.parameters == 8 * 8 + 8 + 5
    roles = [tensor.get("role") for tensor in graph.tensors()]
    assert roles.count("parameter") == 3
    assert roles.count("buffer") == 1


def test_frozen_layers_get_no_gradient() -> None:
    module = networks.WithLoss(networks.Separable())
    everything = foretrain.from_torch(module, IMAGES)
    module.network.stem.requires_grad_(False)
    module.network.blocks.requires_grad_(False)
    part = foretrain.from_torch(module, IMAGES, check="joint")
    assert part.parameters == everything.parameters
    assert part.forward_flops == everything.forward_flops
    assert part.backward_flops < 0.5 * everything.backward_flops
    frozen = [t["name"] for t in part.tensors() if t.get("trainable") is False]
    assert set(frozen) == {n for n, p in module.named_parameters() if not p.requires_grad}


class Lora(nn.Module):
    """y = x w' + (x a') b' with w frozen."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.b(self.a(x))


def test_lora_trains_only_its_thin_matrices() -> None:
    module = nn.Sequential(Lora(nn.Linear(64, 64), 4), nn.ReLU(), Lora(nn.Linear(64, 64), 4))
    graph = foretrain.from_torch(module, torch.zeros(4, 64), check=True)
    report = foretrain.predict(graph, device="a100", batch=4, optimizer="adam")
    trained = 4 * (2 * 2 * 64 * 4)  # bytes of four matrices of 64 x 4 in fp32
    assert report.memory_bytes.gradients == trained
    assert report.memory_bytes.optimizer < report.memory_bytes.parameters


def test_modes_decide_dropout_and_statistics() -> None:
    module = networks.Separable().eval()
    assert "dropout" in {node.op for node in foretrain.from_torch(module, IMAGES[0]).nodes}
    assert not module.training
    asleep = foretrain.from_torch(module, IMAGES[0], train=False)
    assert "dropout" not in {node.op for node in asleep.nodes}


def test_a_scalar_is_the_loss_and_other_outputs_are_what_inference_returns() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 2)

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
            out = self.layer(x)
            return {"loss": nn.functional.mse_loss(out, y), "logits": out}

    graph = foretrain.from_torch(Both(), {"x": torch.zeros(3, 4), "y": torch.zeros(3, 2)})
    file = json.loads(graph.ftg())
    assert "loss" in file
    assert len(file["outputs"]) == 1
    report = foretrain.predict(graph, device="a100", batch=8, mode="inference")
    assert report.memory_bytes.gradients == 0


def test_a_graph_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "mine.ftg.json")
    graph = foretrain.from_torch(networks.Separable(), IMAGES[0], name="mine")
    graph.save(path)
    again = foretrain.load(path)
    assert again.ftg() == graph.ftg()
    assert again.name == "mine"
    named = foretrain.predict(path, device="t4", batch=32)
    assert named == foretrain.predict(graph, device="t4", batch=32)


def test_other_sizes_stay_open_where_they_are_named() -> None:
    module = networks.Encoder(length=1)  # positions that broadcast
    tokens = torch.zeros(2, 24, dtype=torch.long)
    graph = foretrain.from_torch(module, tokens, dynamic={"tokens": {1: "seq"}})
    assert graph.symbols == ["batch", "seq"]
    bound = graph.bind(seq=48)
    assert bound.symbols == ["batch"]
    fixed = foretrain.from_torch(module, torch.zeros(2, 48, dtype=torch.long))
    assert bound.forward_flops == fixed.forward_flops
    assert bound.backward_flops == fixed.backward_flops


def test_the_batch_may_be_another_axis() -> None:
    module = nn.LSTM(16, 32)  # [time, batch, features]
    graph = foretrain.from_torch(module, torch.zeros(10, 2, 16), dynamic={"input": {1: "batch"}})
    assert graph.at(6).forward_flops == 3 * graph.at(2).forward_flops
    # 10 steps of 2 samples: 2 FLOPs for each of the 4 x 32 x (16 + 32) weights.
    assert graph.at(2).forward_flops == 2 * 10 * 2 * 4 * 32 * (16 + 32)


def test_a_batch_that_cannot_stay_open_is_fixed_and_said_so() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(torch.cat([x, x.new_zeros(1, 8)]))  # batch + 1 rows

    graph = foretrain.from_torch(Odd(), torch.zeros(3, 8))
    assert graph.fixed_batch == 3
    assert graph.notes[0].startswith("all sizes are fixed, batch at 3: ")
    assert graph.forward_flops == 2 * 4 * 8 * 8
    assert foretrain.predict(graph, device="a100").throughput.samples_per_s > 0
    with pytest.raises(foretrain.Error, match="fixed at batch 3"):
        foretrain.predict(graph, device="a100", batch=4)


def test_modules_without_memory_are_captured() -> None:
    real = foretrain.from_torch(networks.WithLoss(networks.Recurrent()), TOKENS)
    with torch.device("meta"):
        meta = networks.WithLoss(networks.Recurrent())
    with FakeTensorMode():
        fake = networks.WithLoss(networks.Recurrent())
    before = dict(fake.named_parameters())
    assert foretrain.from_torch(meta, TOKENS).ftg() == real.ftg()
    assert foretrain.from_torch(fake, TOKENS).ftg() == real.ftg()
    assert all(before[name] is parameter for name, parameter in fake.named_parameters())


def test_a_module_is_predicted_at_once() -> None:
    report = foretrain.predict(networks.Separable(), IMAGES[0], device="v100", batch=64)
    assert report.step_time_s.value > 0

# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch become operators of the graph, shape by shape.

The graph infers every shape anew and a translation that gave another one would be opaque, so a
graph without opaque operators has PyTorch's shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from foretrain.torch_check import graph_flops, pytorch_flops
from torch import Tensor, nn

import foretrain


class Of(nn.Module):
    """Some functions of a layer's output, each added up to one loss."""

    def __init__(self, *functions: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.functions = functions

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x)
        return sum((f(y).to(y.dtype).mean() for f in self.functions), y.sum())


def capture(shape: tuple[int, ...], *functions: Callable[[Tensor], Any]) -> foretrain.Graph:
    module, x = Of(*functions), torch.zeros(shape)
    graph = foretrain.from_torch(module, x)
    theirs, ours = pytorch_flops(module, x), graph_flops(graph)
    assert ours[0] == pytest.approx(theirs[0], rel=0.01)
    assert ours[1] == pytest.approx(theirs[1], rel=0.01)
    return graph


def operators(graph: foretrain.Graph) -> Counter[str]:
    return Counter(node.op for node in graph.nodes if node.phase == "forward")


def test_element_by_element() -> None:
    graph = capture(
        (2, 8),
        lambda x: F.leaky_relu(F.elu(F.softplus(F.mish(F.gelu(x))))),
        lambda x: F.hardtanh(F.hardsigmoid(F.hardswish(F.relu6(x)))),
        lambda x: torch.exp(-x.abs()).sqrt().rsqrt().log().erf().sin().cos(),
        lambda x: torch.where(x > 0, x, 2 * x - 1) / 3 + x**2,
        lambda x: torch.maximum(x, x * x).clamp(0, 1).masked_fill(x == 0, 1.0),
        lambda x: x.masked_fill(torch.ones(1, 8).tril() == 0, 0.0).add_(1),
        lambda x: F.dropout(x).half().float().tanh().sub(x).div(x.exp()),
        lambda x: (x > 0).logical_and(x < 1).float(),
    )
    assert graph.notes == []
    found = operators(graph)
    assert found["dropout"] == 1
    assert found["cast"] >= 3


def test_views_and_copies() -> None:
    graph = capture(
        (2, 4, 6, 8),
        lambda x: x.permute(0, 3, 1, 2).reshape(2 * 0 + x.shape[0], -1),
        lambda x: x.transpose(1, 2).flatten(1, 2).unsqueeze(1).squeeze(1),
        lambda x: torch.stack(x.unbind(1), 2)[:, 1:, :, ::2],
        lambda x: torch.cat(x.split([2, 6], dim=-1)[::-1], -1).movedim(1, -1),
        lambda x: x[:, 1].unflatten(-1, (2, 4)).swapaxes(1, 2).contiguous().view(-1, 4),
        lambda x: (
            x[:, :1].expand(-1, 4, -1, -1).expand_as(x)
            + x.chunk(3, 2)[0].repeat(1, 1, 6, 1)[:, :, :6]
        ),
        lambda x: F.pad(x, (1, 2, 0, 1)).roll(1, 2).flip(3).narrow(2, 1, 3),
        lambda x: x.repeat_interleave(3, dim=1) * torch.arange(12)[None, :, None, None],
        lambda x: x.mean(1).mT.index_select(1, torch.tensor([0, 3])),
        lambda x: x.gather(
            3, torch.zeros(1, 4, 6, 2, dtype=torch.long).expand(x.shape[0], -1, -1, -1)
        ),
        lambda x: (
            x[:, torch.tensor([0, 2])]
            + x[:, torch.tensor([1, 1]), torch.tensor([0, 5])][:, None, :1]
        ),
        lambda x: F.interpolate(x, size=(12, 16), mode="nearest"),
    )
    assert [note for note in graph.notes if "fixed" in note] == []
    assert graph.symbols == ["batch"]


def test_along_axes() -> None:
    graph = capture(
        (2, 4, 6, 8),
        lambda x: x.softmax(1).log_softmax(-1).sum((1, 2), keepdim=True),
        lambda x: x.amax(1) + x.max(1).values + x.topk(1, 1).values[:, 0] + x.cumsum(2)[:, 0],
        lambda x: F.max_pool2d(x, 2, ceil_mode=True) + F.avg_pool2d(x, 2),
        lambda x: F.adaptive_avg_pool2d(x, (3, 4)) + F.adaptive_max_pool2d(x, (3, 4)),
        lambda x: F.layer_norm(x, (6, 8)) + F.group_norm(x, 2) + F.instance_norm(x),
        lambda x: F.rms_norm(x, (8,)) + F.batch_norm(x, None, None, training=True),
        lambda x: x.argmax(1),
        lambda x: F.max_pool1d(x[:, 0], 3, 2, 1),
    )
    assert graph.notes == []


def test_gemm() -> None:
    weight = torch.zeros(8, 5)
    graph = capture(
        (2, 4, 6, 8),
        lambda x: x @ weight,
        lambda x: x @ x.transpose(-1, -2),
        lambda x: torch.einsum("bhsd,bhtd->bhst", x, x),
        lambda x: (
            torch.bmm(x[:, 0], x[:, 1].mT) + torch.baddbmm(x[:, 0, :, :6], x[:, 0], x[:, 1].mT)
        ),
        lambda x: torch.addmm(torch.zeros(5), x.reshape(-1, 8), weight),
        lambda x: x[:, 0, 0] @ torch.zeros(8),
        lambda x: F.conv1d(x[:, 0], torch.zeros(12, 3, 3), padding=1, groups=2),
        lambda x: F.conv3d(x[:, None], torch.zeros(2, 1, 2, 2, 2)),
        lambda x: F.conv_transpose2d(x, torch.zeros(4, 3, 3, 3), stride=2, output_padding=1),
        lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=torch.zeros(6, 6)),
        lambda x: F.scaled_dot_product_attention(x[:, 0], x[:, 1], x[:, 2]),
        lambda x: F.multi_head_attention_forward(
            *(x[:, 0],) * 3,
            8,
            2,
            torch.zeros(24, 8),
            torch.zeros(24),
            None,
            None,
            False,
            0.0,
            torch.zeros(8, 8),
            torch.zeros(8),
            need_weights=False,
        )[0],
    )
    assert operators(graph)["attention"] == 3
    assert operators(graph)["conv"] == 3
    opaque = [note for note in graph.notes if note.startswith("opaque")]
    assert opaque == []


@pytest.mark.parametrize("loss", ["cross_entropy", "nll", "mse", "bce", "per_sample"])
def test_losses(loss: str) -> None:
    classes = torch.zeros(2, dtype=torch.long)
    functions = {
        "cross_entropy": lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1),
        "nll": lambda x, t: F.nll_loss(F.log_softmax(x, 1), t),
        "mse": lambda x, t: (
            F.mse_loss(x, t[:, None].float().expand_as(x)) + F.smooth_l1_loss(x, x.detach())
        ),
        "bce": lambda x, t: F.binary_cross_entropy_with_logits(x, torch.zeros_like(x)),
        "per_sample": lambda x, t: F.cross_entropy(x, t, reduction="none").mean(),
    }

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x: Tensor, target: Tensor) -> Tensor:
            return functions[loss](self.layer(x), target)

    graph = foretrain.from_torch(Model(), (torch.zeros(2, 8), classes), check=True)
    found = operators(graph)
    assert found["cross_entropy"] == (1 if loss in ("cross_entropy", "nll") else 0)
    assert found["pointwise_loss"] == {"mse": 2, "bce": 1}.get(loss, 0)
    assert found["log_softmax"] == (1 if loss == "per_sample" else 0)


def test_what_is_not_known_is_opaque_and_noted() -> None:
    graph = capture((2, 4, 8), lambda x: x.var(1), lambda x: torch.logsumexp(x, 1))
    (note,) = graph.notes
    assert note == "opaque operators: logsumexp x1, var x1"
    report = foretrain.predict(graph, device="a100", batch=4)
    assert any("opaque" in text for text in report.warnings + report.assumptions)


def test_regions_without_gradient_and_with_autocast_are_entered() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)
            self.teacher = nn.Linear(8, 8).requires_grad_(False)

        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                target = self.teacher(x)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = self.layer(x)
            return F.mse_loss(y.float(), target)

    graph = foretrain.from_torch(Model(), torch.zeros(2, 8), check=True)
    assert operators(graph)["linear"] == 2


def test_gradients_end_at_detached_values_and_where_they_are_off() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.third = (nn.Linear(8, 8) for _ in range(3))

        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                y = self.second(x)
            return self.third(self.first(x).detach() * y)

    graph = foretrain.from_torch(Model(), torch.zeros(2, 8), check=True)
    assert graph.notes == []
    assert operators(graph)["detach"] == 2
    # Only the weight of the third layer has a gradient: one GEMM of 2 x 8 x 8.
    assert graph.backward_flops == 2 * 2 * 8 * 8


def test_complex_numbers_are_pairs() -> None:
    def rotary(x: Tensor) -> Tensor:
        angles = torch.polar(torch.ones(6, 4), torch.ones(6, 4))
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * angles).flatten(3)

    assert operators(capture((2, 4, 6, 8), rotary))["mul"] == 1


def test_writing_into_a_view_reaches_the_whole() -> None:
    def write(x: Tensor) -> Tensor:
        y = torch.zeros_like(x)
        y[:, 0] = x[:, 1]
        return y * 2

    graph = capture((2, 4, 8), write)
    assert [n.op for n in graph.nodes if n.phase == "backward"].count("conv_input_grad") == 0
    scale = [i for i, n in enumerate(graph.nodes) if n.op == "write_into_view"]
    assert len(scale) >= 1


def test_a_batch_norm_counts_its_steps_for_free() -> None:
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
    graph = foretrain.from_torch(module, torch.zeros(2, 3, 8, 8))
    assert list(operators(graph)) == ["conv", "batch_norm", "relu"]
    frozen = module.eval()
    assert '"frozen": 1' in foretrain.from_torch(frozen, torch.zeros(2, 3, 8, 8), train=False).ftg()

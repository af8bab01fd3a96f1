# SPDX-License-Identifier: Apache-2.0
"""Small networks of repeated blocks, each with its loss, that may be checkpointed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

Contexts = Callable[[], tuple[Any, Any]]  # of the forward pass and of its second run


class Stack(nn.Module):
    """Stem, blocks one after the other, head and loss."""

    def __init__(self, stem: nn.Module, blocks: list[nn.Module], head: nn.Module) -> None:
        super().__init__()
        self.stem = stem
        self.layers = nn.ModuleList(blocks)
        self.head = head
        self.checkpoints = False
        self.contexts: Contexts | None = None

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        x = self.stem(x)
        for layer in self.layers:
            if not self.checkpoints:
                x = layer(x)
            elif self.contexts is None:
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = checkpoint(layer, x, use_reentrant=False, context_fn=self.contexts)
        return F.cross_entropy(self.head(x).float(), target.flatten())


class Attention(nn.Module):
    """One fused operator, or the operators that it stands for."""

    def __init__(self, width: int, heads: int, fused: bool) -> None:
        super().__init__()
        self.heads = heads
        self.fused = fused
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind(0)
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
            y = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Dropout(nn.Module):
    """As on a GPU: a mask of booleans, where the CPU's own dropout keeps one of numbers."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor) -> Tensor:
        return torch.native_dropout(x, self.probability, True)[0] if self.probability else x


class TransformerBlock(nn.Module):
    """Attention and two linear layers, each behind a layer norm and added to its input."""

    def __init__(self, width: int, heads: int, dropout: float, fused: bool) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, fused)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.drop = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.drop(self.attn(self.norm1(x)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))


class GatedBlock(nn.Module):
    """Gated linear layers behind a norm, without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class ResidualBlock(nn.Module):
    """Two convolutions with batch norm; the first may halve the image."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, gate by channels, projection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = 4 * width
        self.expand = nn.Conv2d(width, inner, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inner)
        self.depthwise = nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.squeeze = nn.Conv2d(inner, width // 2, 1)
        self.excite = nn.Conv2d(width // 2, inner, 1)
        self.project = nn.Conv2d(inner, width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        y = F.silu(self.bn1(self.expand(x)))
        y = F.silu(self.bn2(self.depthwise(y)))
        gate = torch.sigmoid(self.excite(F.silu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        return x + self.bn3(self.project(y * gate))


class Pool(nn.Module):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.fc = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x.mean((2, 3)))


class AdaptivePool(Pool):
    """The same, as most classifiers write it."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(width, classes)
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.pool(x).flatten(1))


class ConvStem(nn.Module):
    """A convolution of the images, whose gradient nobody wants, beside the images, scaled."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.scale = nn.Parameter(torch.ones(width, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x) + x * self.scale


class Flat(nn.Module):
    """Logits of every token, as rows."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.fc = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x).flatten(0, 1)


def tokens(block: Callable[[], nn.Module], count: int = 3, width: int = 32) -> Stack:
    return Stack(nn.Embedding(50, width), [block() for _ in range(count)], Flat(width, 50))


def images(blocks: list[nn.Module], width: int) -> Stack:
    return Stack(nn.BatchNorm2d(16), blocks, Pool(width, 10))


def classifier() -> Stack:
    """Convolution first, adaptive pooling last, a frozen convolution between them."""
    blocks = [ResidualBlock(16, 16), ResidualBlock(16, 16), ResidualBlock(16, 24, 2)]
    blocks[1].conv2.weight.requires_grad_(False)
    return Stack(ConvStem(16), list(blocks), AdaptivePool(24, 10))


TOKENS = (torch.zeros(4, 12, dtype=torch.long), torch.zeros(4, 12, dtype=torch.long))
IMAGES = (torch.randn(4, 16, 16, 16), torch.zeros(4, dtype=torch.long))
NETWORKS: dict[str, tuple[Callable[[], Stack], tuple[Tensor, Tensor]]] = {
    "fused_attention": (lambda: tokens(lambda: TransformerBlock(32, 4, 0.0, True)), TOKENS),
    "math_attention": (lambda: tokens(lambda: TransformerBlock(32, 4, 0.1, False)), TOKENS),
    "gated": (lambda: tokens(lambda: GatedBlock(32)), TOKENS),
    "residual": (
        lambda: images([ResidualBlock(16, 16), ResidualBlock(16, 16), ResidualBlock(16, 24, 2)], 24),
        IMAGES,
    ),
    "classifier": (classifier, IMAGES),
    "inverted": (lambda: images([InvertedResidual(16) for _ in range(3)], 16), IMAGES),
}

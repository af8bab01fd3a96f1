# SPDX-License-Identifier: Apache-2.0
"""What PyTorch runs for each operator of a graph.

A builder takes a node's attributes and returns a function of the input tensors. Constants that a
graph does not hold (the factor of ``scale``, the exponent of ``pow``) are fixed to values that
cost what the usual ones cost.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

Run = Callable[..., Any]

_TYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
    "bool": torch.bool,
}
_DROPOUT = 0.1


class Unsupported(Exception):
    """An operator or type that the worker cannot run."""


def dtype(name: str) -> torch.dtype:
    if name not in _TYPES:
        raise Unsupported(f"tensors of type '{name}' cannot be trained here")
    return _TYPES[name]


class Attributes:
    """A node's attributes with every symbol replaced by its number."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def raw(self, key: str, otherwise: Any = None) -> Any:
        return self._values.get(key, otherwise)

    def number(self, key: str, otherwise: int) -> int:
        values = self.numbers(key)
        return values[0] if values else otherwise

    def flag(self, key: str) -> bool:
        return bool(self.number(key, 0))

    def numbers(self, key: str) -> list[int]:
        value = self._values.get(key, [])
        return [int(v) for v in value] if isinstance(value, list) else [int(value)]

    def each(self, key: str, axes: int, otherwise: int) -> list[int]:
        """One value per axis of space; a single one stands for all."""
        values = self.numbers(key) or [otherwise]
        return values * axes if len(values) == 1 else values[:axes]

    def padding(self, axes: int) -> tuple[list[int], list[int]]:
        """Before and after each axis of space."""
        values = self.numbers("padding")
        if len(values) == 2 * axes and axes > 0:
            return values[:axes], values[axes:]
        before = self.each("padding", axes, 0)
        return before, before


def _sides(before: list[int], after: list[int]) -> list[int]:
    """As functional.pad wants them: the last axis first."""
    pairs = zip(reversed(before), reversed(after), strict=True)
    return [side for pair in pairs for side in pair]


def _conv(at: Attributes) -> Run:
    groups, transposed = at.number("groups", 1), at.flag("transposed")

    def run(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        axes = x.dim() - 2
        stride, dilation = at.each("stride", axes, 1), at.each("dilation", axes, 1)
        before, after = at.padding(axes)
        if transposed:
            extra = at.each("output_padding", axes, 0)
            return torch.convolution(x, weight, bias, stride, before, dilation, True, extra, groups)
        if before != after:
            x, before = functional.pad(x, _sides(before, after)), [0] * axes
        return torch.convolution(x, weight, bias, stride, before, dilation, False, [0], groups)

    return run


_MAX_POOLS = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVG_POOLS = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


def _pool(pools: dict[int, Run], fill: float) -> Callable[[Attributes], Run]:
    def build(at: Attributes) -> Run:
        ceil_mode = at.flag("ceil_mode")

        def run(x: Tensor) -> Tensor:
            axes = x.dim() - 2
            kernel, stride = at.each("kernel", axes, 1), at.each("stride", axes, 1)
            before, after = at.padding(axes)
            if before != after or any(2 * p > k for p, k in zip(before, kernel, strict=True)):
                x = functional.pad(x, _sides(before, after), value=fill)
                before = [0] * axes
            result: Tensor = pools[axes](x, kernel, stride, before, ceil_mode=ceil_mode)
            return result

        return run

    return build


def _adaptive_pool(at: Attributes) -> Run:
    pools = {
        1: functional.adaptive_avg_pool1d,
        2: functional.adaptive_avg_pool2d,
        3: functional.adaptive_avg_pool3d,
    }
    return lambda x: pools[x.dim() - 2](x, at.each("sizes", x.dim() - 2, 1))


def _upsample(at: Attributes) -> Run:
    return lambda x: functional.interpolate(x, size=at.each("sizes", x.dim() - 2, 1))


def _pad(at: Attributes) -> Run:
    def run(x: Tensor) -> Tensor:
        before, after = at.padding(x.dim())
        return functional.pad(x, _sides(before, after))

    return run


def _matmul(at: Attributes) -> Run:
    a, b = at.flag("transpose_a"), at.flag("transpose_b")
    return lambda x, y: torch.matmul(x.mT if a else x, y.mT if b else y)


def _attention(at: Attributes) -> Run:
    causal, masked = at.flag("causal"), at.flag("mask")
    dropout = _DROPOUT if at.flag("dropout") else 0.0
    masks: dict[tuple[int, int], Tensor] = {}

    def run(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None) -> Tensor:
        if bias is None and masked:
            lengths = (q.shape[2], k.shape[2])
            if lengths not in masks:
                masks[lengths] = torch.zeros(1, 1, *lengths, dtype=q.dtype, device=q.device)
            bias = masks[lengths]
        return functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=bias,
            dropout_p=dropout,
            is_causal=causal and bias is None,
            enable_gqa=q.shape[1] != k.shape[1],
        )

    return run


def _recurrent(at: Attributes) -> Run:
    gates, hidden = at.number("gates", 4), at.number("hidden", 0)
    layers, directions = at.number("layers", 1), at.number("directions", 1)
    batch_first = at.flag("batch_first")
    dropout = _DROPOUT if at.flag("dropout") and layers > 1 else 0.0

    def run(x: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        biased = len(weights) == 4 * layers * directions
        if not biased and len(weights) != 2 * layers * directions:
            raise Unsupported(f"recurrent with {len(weights)} weights")
        start = x.new_zeros(layers * directions, x.shape[0 if batch_first else 1], hidden)
        rest = (list(weights), biased, layers, dropout, True, directions == 2, batch_first)
        if gates == 4:
            out, state, cell = torch.lstm(x, (start, start), *rest)
            return out, torch.cat([state, cell])
        return (torch.gru if gates == 3 else torch.rnn_tanh)(x, start, *rest)

    return run


def _batch_norm(at: Attributes) -> Run:
    frozen = at.flag("frozen")

    def run(x: Tensor, weight: Any = None, bias: Any = None, mean: Any = None, var: Any = None):
        return functional.batch_norm(x, mean, var, weight, bias, training=not frozen)

    return run


def _layer_norm(norm: Run) -> Callable[[Attributes], Run]:
    def build(at: Attributes) -> Run:
        axes = at.number("axes", 1)
        return lambda x, *weights: norm(x, x.shape[-axes:], *weights)

    return build


def _group_norm(at: Attributes) -> Run:
    return lambda x, *weights: functional.group_norm(x, at.number("groups", 1), *weights)


def _shape(at: Attributes, x: Tensor, copies: tuple[int, ...]) -> list[int]:
    """The target of reshape or expand; the values in ``copies`` keep a dimension."""
    target = at.numbers("shape")
    offset = 0 if -1 not in copies else len(target) - x.dim()
    return [x.shape[i - offset] if size in copies else size for i, size in enumerate(target)]


def _slice(at: Attributes) -> Run:
    axis, step = at.number("axis", 0), at.number("step", 1)
    start, end = at.number("start", 0), at.number("end", 2**62)
    return lambda x: x[(slice(None),) * (axis % x.dim()) + (slice(start, end, step),)]


def _gather(at: Attributes) -> Run:
    axis = at.number("axis", 0)

    def run(x: Tensor, indices: Tensor) -> Tensor:
        at_axis = axis % x.dim()
        shape = x.shape[:at_axis] + indices.shape + x.shape[at_axis + 1 :]
        return x.index_select(at_axis, indices.reshape(-1) % x.shape[at_axis]).reshape(shape)

    return run


def _roll(at: Attributes) -> Run:
    def run(x: Tensor) -> Tensor:
        if x.dim() == 4:
            return torch.roll(x, shifts=(-3, -3), dims=(1, 2))
        return torch.roll(x, 1, x.dim() - 1)

    return run


def _reduce(function: Run) -> Callable[[Attributes], Run]:
    def build(at: Attributes) -> Run:
        keep = at.flag("keep_dims")

        def run(x: Tensor) -> Tensor:
            axes = at.numbers("axes") or list(range(x.dim()))
            result: Tensor = function(x, axes, keepdim=keep)
            return result

        return run

    return build


def _arg_max(at: Attributes) -> Run:
    axes, keep = at.numbers("axes"), at.flag("keep_dims")
    return lambda x: torch.argmax(x, axes[0] if axes else None, keepdim=keep)


def _add(at: Attributes) -> Run:
    inplace = at.flag("inplace")

    def run(x: Tensor, *others: Tensor) -> Tensor:
        for other in others:
            x = x.add_(other) if inplace else x + other
        return x

    return run


def _where(at: Attributes) -> Run:
    def run(mask: Tensor, x: Tensor, other: Tensor | float = 0.0) -> Tensor:
        return torch.where(mask.bool(), x, other)

    return run


def _activation(function: Run) -> Callable[[Attributes], Run]:
    def build(at: Attributes) -> Run:
        inplace = at.flag("inplace")
        return lambda x: function(x, inplace=inplace)

    return build


def _loss_target(prediction: Tensor, target: Tensor) -> Tensor:
    return functional.mse_loss(prediction, target.to(prediction.dtype))


def _plain(function: Run) -> Callable[[Attributes], Run]:
    return lambda at: function


def _along(function: Run, otherwise: int = -1) -> Callable[[Attributes], Run]:
    return lambda at: lambda x: function(x, at.number("axis", otherwise))


BUILDERS: dict[str, Callable[[Attributes], Run]] = {
    "reshape": lambda at: lambda x: x.reshape(_shape(at, x, (0,))),
    "transpose": lambda at: lambda x: x.permute(at.numbers("axes")),
    "slice": _slice,
    "split": lambda at: lambda x: torch.split(x, at.numbers("sizes"), at.number("axis", 0)),
    "expand": lambda at: lambda x: x.expand(_shape(at, x, (0, -1))),
    "identity": _plain(lambda x: x),
    "detach": _plain(lambda x: x.detach()),
    "contiguous": _plain(lambda x: x.contiguous()),
    "concat": lambda at: lambda *parts: torch.cat(parts, at.number("axis", 1)),
    "pad": _pad,
    "cast": lambda at: lambda x: x.to(dtype(at.raw("type", "f32"))),
    "gather": _gather,
    "upsample": _upsample,
    "roll": _roll,
    "linear": _plain(functional.linear),
    "matmul": _matmul,
    "conv": _conv,
    "attention": _attention,
    "recurrent": _recurrent,
    "embedding": _plain(functional.embedding),
    "relu": _activation(functional.relu),
    "relu6": _activation(functional.relu6),
    "leaky_relu": lambda at: lambda x: functional.leaky_relu(x, 0.1, at.flag("inplace")),
    "gelu": _plain(functional.gelu),
    "silu": _activation(functional.silu),
    "mish": _activation(functional.mish),
    "sigmoid": _plain(torch.sigmoid),
    "hard_sigmoid": _activation(functional.hardsigmoid),
    "hard_swish": _activation(functional.hardswish),
    "tanh": _plain(torch.tanh),
    "softplus": _plain(functional.softplus),
    "elu": lambda at: lambda x: functional.elu(x, 1.0, at.flag("inplace")),
    "exp": _plain(torch.exp),
    "log": _plain(lambda x: torch.log(x)),
    "sqrt": _plain(torch.sqrt),
    "rsqrt": _plain(torch.rsqrt),
    "pow": _plain(lambda x: torch.pow(x, 3.0)),
    "neg": _plain(torch.neg),
    "abs": _plain(torch.abs),
    "erf": _plain(torch.erf),
    "sin": _plain(torch.sin),
    "cos": _plain(torch.cos),
    "scale": _plain(lambda x: x * 0.5),
    "shift": _plain(lambda x: x + 1.0),
    "clip": _plain(lambda x: torch.clamp(x, 0.0, 20.0)),
    "add": _add,
    "sub": _plain(operator.sub),
    "mul": _plain(operator.mul),
    "div": _plain(operator.truediv),
    "maximum": _plain(torch.maximum),
    "minimum": _plain(torch.minimum),
    "where": _where,
    "compare": _plain(lambda x, y=0.0: torch.gt(x, y)),
    "dropout": lambda at: lambda x: functional.dropout(x, _DROPOUT, True, at.flag("inplace")),
    "softmax": _along(torch.softmax),
    "log_softmax": _along(torch.log_softmax),
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm(functional.layer_norm),
    "rms_norm": _layer_norm(functional.rms_norm),
    "group_norm": _group_norm,
    "sum": _reduce(torch.sum),
    "mean": _reduce(torch.mean),
    "arg_max": _arg_max,
    "top_k": lambda at: lambda x: torch.topk(x, at.number("sizes", 1), at.number("axis", -1)),
    "cum_sum": _along(torch.cumsum),
    "max_pool": _pool(_MAX_POOLS, float("-inf")),
    "avg_pool": _pool(_AVG_POOLS, 0.0),
    "adaptive_avg_pool": _adaptive_pool,
    "cross_entropy": _plain(functional.cross_entropy),
    "pointwise_loss": _plain(_loss_target),
}


def build(node: dict[str, Any], attributes: dict[str, Any]) -> Run:
    """The function that runs a node."""
    name = node["op"]
    if name not in BUILDERS:
        raise Unsupported(f"operator '{name}' ({node.get('label', '')}) cannot be run by PyTorch")
    return BUILDERS[name](Attributes(attributes))

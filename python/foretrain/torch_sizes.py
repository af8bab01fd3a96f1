# SPDX-License-Identifier: Apache-2.0
"""Sizes and types of fake tensors in the words of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

Size = int | str  # 64 or "2*batch"
Shape = tuple[Size, ...]

TYPES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float64: "f64",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i32",
    torch.uint8: "i8",
    torch.int8: "i8",
    torch.bool: "bool",
    torch.complex64: "f32",  # with a last axis of 2
    torch.complex128: "f64",
}


class NotAProduct(Exception):
    """A size is no product of a number and symbols, such as batch + 1."""


class DependsOnData(Exception):
    """A size is known only when the values of tensors are."""


def type_of(dtype: torch.dtype) -> str:
    """The graph's word for a type; 8-bit floating-point formats are one."""
    return TYPES.get(dtype, "f8" if dtype.is_floating_point else "i8")


class Sizes:
    """Translates sizes, which may hold symbols, into those of the graph."""

    def __init__(self, names: Mapping[Any, str], hints: Mapping[Any, int]) -> None:
        self._names = dict(names)  # of each sympy symbol
        self._hints = dict(hints)
        self._order = list(dict.fromkeys(names.values()))
        self._sizes: dict[Any, Size] = {}
        self._numbers: dict[Any, int] = {}

    def size(self, value: int | torch.SymInt) -> Size:
        """A number, or a product such as "2*batch*seq"."""
        if not isinstance(value, torch.SymInt):
            return int(value)
        expression = value.node.expr
        if expression not in self._sizes:
            self._sizes[expression] = self._product(expression)
        return self._sizes[expression]

    def shape(self, tensor: torch.Tensor) -> Shape:
        """The sizes of all axes; a complex number is an axis of 2."""
        shape = tuple(self.size(size) for size in tensor.shape)
        return (*shape, 2) if tensor.dtype.is_complex else shape

    def number(self, value: int | torch.SymInt) -> int:
        """The value that a size has with the example inputs, without binding its symbols."""
        if not isinstance(value, torch.SymInt):
            return int(value)
        expression = value.node.expr
        if expression not in self._numbers:
            self._require_known(expression)
            self._numbers[expression] = int(expression.subs(self._hints))
        return self._numbers[expression]

    def like(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor without memory that has the sizes and strides of this one."""
        return torch.empty_strided(
            [self.number(size) for size in tensor.shape],
            [self.number(stride) for stride in tensor.stride()],
            dtype=tensor.dtype,
            device="meta",
        )

    def _require_known(self, expression: Any) -> None:
        unknown = [s for s in expression.free_symbols if s not in self._names]
        if unknown:
            raise DependsOnData(str(expression))

    def _product(self, expression: Any) -> Size:
        if expression.is_Integer:
            return int(expression)
        self._require_known(expression)
        factor, rest = expression.as_coeff_Mul()
        powers = dict.fromkeys(self._order, 0)
        for base, power in rest.as_powers_dict().items():
            if base not in self._names or not power.is_Integer or power < 1:
                raise NotAProduct(str(expression))
            powers[self._names[base]] += int(power)
        if not factor.is_Integer or factor < 1:
            raise NotAProduct(str(expression))
        parts = [name for name in self._order for _ in range(powers[name])]
        return "*".join([str(factor), *parts] if factor != 1 else parts)


def product(sizes: Sequence[Size]) -> Size:
    """The number of elements of a shape."""
    factor, rest = 1, []
    for size in sizes:
        for part in str(size).split("*"):
            if part.lstrip("-").isdigit():
                factor *= int(part)
            else:
                rest.append(part)
    if not rest:
        return factor
    return "*".join([str(factor), *sorted(rest)] if factor != 1 else sorted(rest))

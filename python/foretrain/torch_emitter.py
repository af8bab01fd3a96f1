# SPDX-License-Identifier: Apache-2.0
"""Adds operators to a graph; what a translation of ATen calls writes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from . import _core
from .torch_sizes import Shape, Size, Sizes, product, type_of


@dataclass(frozen=True)
class Value:
    """A tensor of the graph; ``fake`` is what PyTorch knows of it, where it is PyTorch's own."""

    id: int
    shape: Shape
    type: str
    fake: torch.Tensor | None = field(default=None, compare=False, repr=False)

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass
class Call:
    """One ATen call: its name without overload, arguments by name, and what it returns."""

    name: str
    inplace: bool
    arguments: dict[str, Any]
    outputs: list[torch.Tensor]  # fake
    shapes: list[Shape]
    types: list[str]
    users: list[str] = field(default_factory=list)  # names of the calls that read the result

    def __getitem__(self, key: str) -> Any:
        return self.arguments[key]

    def get(self, key: str, otherwise: Any = None) -> Any:
        value = self.arguments.get(key)
        return otherwise if value is None else value

    @property
    def shape(self) -> Shape:
        """Of the first output."""
        return self.shapes[0]

    @property
    def type(self) -> str:
        return self.types[0]

    def values(self) -> list[Value]:
        """Every tensor among the arguments, in order."""
        found: list[Value] = []

        def visit(argument: Any) -> None:
            if isinstance(argument, Value):
                found.append(argument)
            elif isinstance(argument, list | tuple):
                for entry in argument:
                    visit(entry)

        for argument in self.arguments.values():
            visit(argument)
        return found


Result = Value | Sequence[Value | None]
Handler = Callable[["Emitter", Call], Result]


class Emitter:
    """The graph being made, the layer that nodes come from, and what was noted."""

    def __init__(self, name: str, symbols: Sequence[str], sizes: Sizes) -> None:
        self.builder = _core.GraphBuilder(name, symbols)
        self.sizes = sizes
        self.scope = ""
        self.opaque_calls: Counter[str] = Counter()
        self.trained: set[int] = set()  # values that lead back to a trained parameter
        self.logits: set[int] = set()  # of which only a loss takes the log-softmax

    def tensor(
        self, name: str, tensor: torch.Tensor, role: str, *, fake: torch.Tensor | None = None
    ) -> Value:
        """An input, a parameter or a buffer."""
        known = tensor if fake is None else fake
        shape, type_ = self.sizes.shape(known), type_of(known.dtype)
        floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        trainable = role == "parameter" and tensor.requires_grad and floating
        id_ = self.builder.tensor(name, shape, type_, role, trainable)
        if trainable:
            self.trained.add(id_)
        return Value(id_, shape, type_, known)

    def add(
        self,
        op: str,
        inputs: Sequence[Value],
        shape: Shape | None = None,
        type: str | None = None,
        /,
        **attributes: Size | Sequence[Size],
    ) -> Value:
        """A node whose first output has this shape and type: those of its first input if None."""
        return self.add_all(
            op,
            inputs,
            [inputs[0].shape if shape is None else shape],
            [inputs[0].type if type is None else type],
            **attributes,
        )[0]

    def add_all(
        self,
        op: str,
        inputs: Sequence[Value],
        shapes: Sequence[Shape],
        types: Sequence[str],
        label: str = "",
        /,
        **attributes: Size | Sequence[Size],
    ) -> list[Value]:
        """A node and all outputs whose shapes are given; raises Error where they do not fit."""
        ids = self.builder.add(
            op,
            [value.id for value in inputs],
            shapes,
            types,
            list(attributes.items()),
            self.scope,
            label,
        )
        if any(value.id in self.trained for value in inputs):
            self.trained.update(ids)
        return [Value(i, s, t) for i, s, t in zip(ids, shapes, types, strict=False)]

    def opaque(self, label: str, inputs: Sequence[Value], shape: Shape, type: str) -> Value:
        """An operator of which only its bytes are known."""
        self.opaque_calls[label] += 1
        return self.add_all("opaque", inputs, [shape], [type], label)[0]

    def rollback(self, mark: tuple[int, int]) -> None:
        """Takes back everything since the mark."""
        self.builder.rollback(mark)
        self.trained = {id_ for id_ in self.trained if id_ < mark[1]}

    def detach(self, x: Value) -> Value:
        """The same values without a gradient."""
        if x.id not in self.trained:
            return x
        cut = replace(self.add("detach", [x]), fake=x.fake)
        self.trained.discard(cut.id)
        return cut

    def reshape(self, x: Value, shape: Shape) -> Value:
        """A view of other sizes."""
        return x if x.shape == shape else self.add("reshape", [x], shape, shape=shape)

    def transpose(self, x: Value, axes: Sequence[int]) -> Value:
        """A view with its axes in this order."""
        if list(axes) == list(range(x.rank)):
            return x
        return self.add("transpose", [x], tuple(x.shape[a] for a in axes), axes=list(axes))

    def slice(self, x: Value, axis: int, start: int, end: int, step: int = 1) -> Value:
        """A view of part of an axis."""
        shape = list(x.shape)
        shape[axis] = -(-(end - start) // step)
        return self.add("slice", [x], tuple(shape), axis=axis, start=start, end=end, step=step)

    def cast(self, x: Value, type: str) -> Value:
        """A copy in another type."""
        return x if x.type == type else self.add("cast", [x], x.shape, type, type=type)

    def expand(self, x: Value, shape: Shape) -> Value:
        return x if x.shape == shape else self.add("expand", [x], shape, shape=shape)

    def matrix(self, x: Value) -> Value:
        """[..., k] as [rows, k], copied where its memory does not allow a view."""
        if x.rank == 2:
            return x
        shape = (product(x.shape[:-1]), x.shape[-1])
        if x.fake is not None and not self.is_viewable(x.fake, shape):
            x = self.add("contiguous", [x])
        return self.reshape(x, shape)

    def is_viewable(self, fake: torch.Tensor, shape: Sequence[Size | torch.SymInt]) -> bool:
        """Whether a tensor can be seen in another shape without a copy."""
        last = [-1 if isinstance(size, str) else self.sizes.number(size) for size in shape]
        if fake.dtype.is_complex or last.count(-1) > 1:
            return True
        try:
            self.sizes.like(fake).view(last)
        except RuntimeError:
            return False
        return True


def with_fake(result: Result, fakes: Sequence[torch.Tensor]) -> Result:
    """The values of a call, each with what PyTorch knows of it."""
    if isinstance(result, Value):
        return replace(result, fake=fakes[0])
    return [
        None if value is None else replace(value, fake=fake)
        for value, fake in zip(result, fakes, strict=False)
    ]

# SPDX-License-Identifier: Apache-2.0
"""A graph in Foretrain's format as a PyTorch module: what is predicted is what runs."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from . import operators
from .operators import Run, Unsupported

_NORMS = {"batch_norm", "layer_norm", "rms_norm", "group_norm"}
_PASSING = {  # integers come out as they went in
    "reshape", "transpose", "slice", "split", "expand", "identity", "detach", "contiguous",
    "concat", "pad", "cast", "where",
}  # fmt: skip


def bound(size: int | str, symbols: dict[str, int]) -> int:
    """A dimension such as "2*batch" as a number."""
    if isinstance(size, int):
        return size
    result = 1
    for part in size.split("*"):
        result *= symbols[part] if part in symbols else int(part)
    return result


class FtgModule(nn.Module):
    """Runs the forward nodes of a graph; autograd does the rest.

    ``inputs()`` makes data of the right shapes. Called with them, the module returns the loss, or
    where the graph has none, the mean of its outputs. ``outputs(...)`` returns the outputs.
    """

    def __init__(self, graph: dict[str, Any], batch: int, seed: int = 0) -> None:
        super().__init__()
        self.symbols = dict.fromkeys(graph.get("symbols", ["batch"]), 1) | {"batch": batch}
        self._tensors: list[dict[str, Any]] = [dict(t) for t in graph.get("tensors", [])]
        self._ids = {t["name"]: i for i, t in enumerate(self._tensors) if _has_own_name(t)}
        self._draw = torch.Generator().manual_seed(seed)
        nodes = [n for n in graph["nodes"] if n.get("phase", "forward") == "forward"]
        self._wiring = [self._wire(node) for node in nodes]
        self._ops = [node["op"] for node in nodes]
        self._node_attributes = [self._attributes(node) for node in nodes]
        built = zip(nodes, self._node_attributes, strict=True)
        self._runs: list[Run] = [operators.build(node, values) for node, values in built]
        self._returned = [self._id(reference) for reference in graph.get("outputs", [])]
        self._loss = self._id(graph["loss"]) if "loss" in graph else None
        self._limits = self._integer_limits()
        self._uses = self._first_uses()
        self._make_constants()
        self._plan = self._make_plan()

    def shape(self, tensor: int) -> list[int]:
        return [bound(size, self.symbols) for size in self._tensors[tensor]["shape"]]

    def inputs(self) -> list[Tensor]:
        """Fresh data for one step, in the order of the graph's inputs."""
        return [self._data(i) for i in self._inputs]

    def input_layout(self) -> list[tuple[str, int | None]]:
        """Name and batch axis of each input; None where it has no batch axis of its own."""
        layout = []
        for i in self._inputs:
            shape = self._tensors[i]["shape"]
            layout.append((self._tensors[i].get("name", ""), _place(shape, "batch")))
        return layout

    def forward(self, *inputs: Tensor) -> Tensor:
        values = self._run(inputs)
        if self._loss is not None:
            result: Tensor = values[self._loss]
            return result
        return torch.stack([values[i].float().mean() for i in self._returned]).sum()

    def outputs(self, *inputs: Tensor) -> list[Tensor]:
        values = self._run(inputs)
        return [values[i] for i in self._returned]

    def output_shapes(self) -> list[list[int]]:
        """As the graph says."""
        return [self.shape(i) for i in self._returned]

    def node_shapes(self) -> list[dict[str, Any]]:
        """Every node: operator, attributes, and the shapes and types of its inputs."""
        result = []
        for op, attributes, (ins, _) in zip(
            self._ops, self._node_attributes, self._wiring, strict=True
        ):
            types = [self._tensors[i].get("type", "f32") for i in ins]
            shapes = [self.shape(i) for i in ins]
            result.append({"op": op, "attributes": attributes, "shapes": shapes, "types": types})
        return result

    def _run(self, inputs: tuple[Tensor, ...]) -> list[Any]:
        values: list[Any] = list(self._constants)
        for i, value in zip(self._inputs, inputs, strict=True):
            values[i] = value
        for run, ins, outs, dead in self._plan:
            result = run(*[values[i] for i in ins])
            if isinstance(result, tuple | list):
                for i, part in zip(outs, result, strict=False):
                    values[i] = part
            else:
                values[outs[0]] = result
            del result
            for i in dead:
                values[i] = None
        return values

    def _id(self, reference: int | str) -> int:
        if isinstance(reference, int):
            return reference
        if reference not in self._ids:
            raise Unsupported(f"tensor '{reference}' is not declared")
        return self._ids[reference]

    def _wire(self, node: dict[str, Any]) -> tuple[list[int], list[int]]:
        ins = [self._id(reference) for reference in node["inputs"]]
        for reference in node["outputs"]:
            if isinstance(reference, str) and reference not in self._ids:
                self._ids[reference] = len(self._tensors)
                self._tensors.append({"name": reference, "shape": []})
        return ins, [self._id(reference) for reference in node["outputs"]]

    def _attributes(self, node: dict[str, Any]) -> dict[str, Any]:
        result = {}
        for key, value in node.get("attributes", {}).items():
            if key in ("type", "of", "optimizer"):
                result[key] = value
            elif isinstance(value, list):
                result[key] = [bound(v, self.symbols) for v in value]
            else:
                result[key] = bound(value, self.symbols)
        return result

    def _integer_limits(self) -> dict[int, int]:
        """Below what each tensor of integers must stay so that look-ups find something."""
        limits: dict[int, int] = {}

        def limit(tensor: int, most: int) -> None:
            limits[tensor] = min(limits.get(tensor, most), most)

        for op, (ins, outs) in zip(reversed(self._ops), reversed(self._wiring), strict=True):
            if op == "embedding":
                limit(ins[0], self.shape(ins[1])[0])
            elif op == "gather":
                limit(ins[1], min(self.shape(ins[0]) or [1]))
            elif op == "cross_entropy":
                limit(ins[1], self.shape(ins[0])[1 if len(self.shape(ins[0])) > 1 else 0])
            elif op in _PASSING:
                for out in outs:
                    for i in ins if out in limits else []:
                        limit(i, limits[out])
        return limits

    def _first_uses(self) -> dict[int, tuple[str, int]]:
        """Of each tensor: the operator that first reads it, and as which input."""
        uses: dict[int, tuple[str, int]] = {}
        for op, (ins, _) in zip(self._ops, self._wiring, strict=True):
            for place, i in enumerate(ins):
                uses.setdefault(i, (op, place))
        return uses

    def _make_constants(self) -> None:
        self._constants: list[Any] = [None] * len(self._tensors)
        self._inputs: list[int] = []
        for i, tensor in enumerate(self._tensors):
            role = tensor.get("role", "activation")
            if role == "parameter":
                parameter = nn.Parameter(
                    self._weights(i), requires_grad=bool(tensor.get("trainable", True))
                )
                self.register_parameter(f"p{i}", parameter)
                self._constants[i] = parameter
            elif role == "buffer":
                self.register_buffer(f"b{i}", self._buffer(i))
                self._constants[i] = getattr(self, f"b{i}")
            elif role == "input":
                self._inputs.append(i)

    def _weights(self, i: int) -> Tensor:
        """Values that keep activations near one."""
        shape, (op, place) = self.shape(i), self._uses.get(i, ("", 0))
        kind = operators.dtype(self._tensors[i].get("type", "f32"))
        if op in _NORMS:
            return torch.full(shape, 1.0 if place == 1 else 0.0, dtype=kind)
        if len(shape) < 2:
            return torch.zeros(shape, dtype=kind)
        spread = 1.0 / math.sqrt(math.prod(shape[1:]))
        return (torch.randn(shape, generator=self._draw) * spread).to(kind)

    def _buffer(self, i: int) -> Tensor:
        shape, (op, place) = self.shape(i), self._uses.get(i, ("", 0))
        kind = operators.dtype(self._tensors[i].get("type", "f32"))
        if kind.is_floating_point:
            return torch.full(shape, 0.0 if op == "batch_norm" and place == 3 else 1.0, dtype=kind)
        if kind == torch.bool:
            return torch.ones(shape, dtype=kind)
        count = math.prod(shape)
        return (torch.arange(count) % self._limits.get(i, 2)).reshape(shape).to(kind)

    def _data(self, i: int) -> Tensor:
        shape = self.shape(i)
        kind = operators.dtype(self._tensors[i].get("type", "f32"))
        if kind.is_floating_point:
            return torch.randn(shape, generator=self._draw).to(kind)
        if kind == torch.bool:
            return torch.ones(shape, dtype=kind)
        return torch.randint(self._limits.get(i, 2), shape, generator=self._draw).to(kind)

    def _make_plan(self) -> list[tuple[Run, list[int], list[int], list[int]]]:
        """Each node with the tensors that nobody reads after it, so that their memory is free."""
        last: dict[int, int] = {}
        for step, (ins, outs) in enumerate(self._wiring):
            for i in (*ins, *outs):
                last[i] = step
        kept = {*self._returned, self._loss}
        plan = []
        for step, (run, (ins, outs)) in enumerate(zip(self._runs, self._wiring, strict=True)):
            dead = [i for i in {*ins, *outs} if last[i] == step and i not in kept]
            plan.append((run, ins, outs, dead))
        return plan


def _has_own_name(tensor: dict[str, Any]) -> bool:
    return bool(tensor.get("name")) and tensor.get("role") != "optimizer_state"


def _place(shape: list[int | str], symbol: str) -> int | None:
    return shape.index(symbol) if symbol in shape else None

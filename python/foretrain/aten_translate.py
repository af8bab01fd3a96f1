# SPDX-License-Identifier: Apache-2.0
"""Walks a graph of ATen calls and says the same in Foretrain's operators."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._dispatch.python import enable_python_dispatcher
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from . import aten_axes, aten_gemm, aten_pointwise, aten_views  # noqa: F401  (register)
from .aten_registry import HANDLERS
from .aten_views import is_view
from .errors import Error
from .torch_emitter import Call, Emitter, Result, Value, with_fake
from .torch_sizes import DependsOnData, NotAProduct, type_of

_NO_SCOPE = "_empty_nn_module_stack_from_metadata_hook"
_NOTHING = ("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range")


class Translator:
    """Translates graphs into one emitter; graphs inside of graphs too."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter

    def run(self, module: fx.GraphModule, inputs: Sequence[Any], scope: str = "") -> list[Any]:
        """The outputs of a graph whose placeholders have these values."""
        given = iter(inputs)
        known: dict[fx.Node, Any] = {}
        for node in module.graph.nodes:
            if node.op == "placeholder":
                known[node] = next(given)
            elif node.op == "get_attr":
                known[node] = self._attribute(module, node)
            elif node.op == "call_function":
                known[node] = self._call(node, known, scope)
            elif node.op == "output":
                result = _resolved(node.args[0], known)
                return list(result) if isinstance(result, list | tuple) else [result]
        raise Error("the captured graph has no output")

    def _attribute(self, module: fx.GraphModule, node: fx.Node) -> Any:
        value: Any = module
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, torch.Tensor):
            return self.emitter.tensor(str(node.target), value, "buffer")
        return value

    def _call(self, node: fx.Node, known: dict[fx.Node, Any], scope: str) -> Any:
        self.emitter.scope = _scope_of(node) or scope
        if node.target is operator.getitem:
            source, index = _resolved(node.args, known)
            return source[index]
        if not _tensors(node.meta.get("val")):
            return node.meta.get("val")
        if isinstance(node.target, torch._ops.OpOverload):
            return self._aten(node, node.target, known)
        arguments = _resolved(node.args, known)
        for i, argument in enumerate(arguments):
            if isinstance(argument, fx.GraphModule):  # a region without gradients or with autocast
                operands = arguments[i + 1 :]
                results = self.run(argument, operands, self.emitter.scope)
                if arguments[0] is False:  # gradients are off
                    return [self._detached(result) for result in results]
                return results
        return self._opaque(str(node.target), _values(arguments), node)

    def _detached(self, result: Any) -> Any:
        return self.emitter.detach(result) if isinstance(result, Value) else result

    def _aten(self, node: fx.Node, op: torch._ops.OpOverload, known: dict[fx.Node, Any]) -> Any:
        name = op._schema.name.split("::")[-1]
        if name in _NOTHING:
            return None
        call = self._described(node, op, name, known)
        if call.inplace and _is_counter(call.values()):
            return call.values()[0]
        result = self._translated(node, op, call, known)
        if call.inplace and isinstance(result, Value):
            self._overwrite(node.args[0], result, known)
        return result

    def _described(
        self, node: fx.Node, op: torch._ops.OpOverload, name: str, known: dict[fx.Node, Any]
    ) -> Call:
        inplace = name.endswith("_") and not name.endswith("__") and op._schema.is_mutable
        arguments = {}
        for i, argument in enumerate(op._schema.arguments):
            value = argument.default_value if argument.has_default_value() else None
            if i < len(node.args):
                value = node.args[i]
            arguments[argument.name] = _resolved(node.kwargs.get(argument.name, value), known)
        outputs = _tensors(node.meta["val"])
        return Call(
            name=name[:-1] if inplace else name,
            inplace=inplace,
            arguments=arguments,
            outputs=outputs,
            shapes=[self.emitter.sizes.shape(tensor) for tensor in outputs],
            types=[type_of(tensor.dtype) for tensor in outputs],
            users=[_short_name(user) for user in node.users],
        )

    def _translated(
        self, node: fx.Node, op: torch._ops.OpOverload, call: Call, known: dict[fx.Node, Any]
    ) -> Any:
        several = isinstance(node.meta["val"], list | tuple)
        mark = self.emitter.builder.mark()
        handler = HANDLERS.get(call.name)
        if handler is not None:
            try:
                return _shaped(with_fake(handler(self.emitter, call), call.outputs), several)
            except Error:
                self.emitter.rollback(mark)
        elif op._can_decompose():
            try:
                result = self._decomposed(node, op, known)
                return result if several else result[0]
            except (NotAProduct, DependsOnData):
                raise
            except Exception:  # whatever PyTorch raises: the call is then one operator
                self.emitter.rollback(mark)
        return self._opaque(call.name, call.values(), node)

    def _decomposed(
        self, node: fx.Node, op: torch._ops.OpOverload, known: dict[fx.Node, Any]
    ) -> list[Any]:
        """What a composite operator runs is what PyTorch runs for it."""
        fakes = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
        flat, form = pytree.tree_flatten(fakes)
        places = [i for i, value in enumerate(flat) if isinstance(value, torch.Tensor)]

        def call(*tensors: torch.Tensor) -> Any:
            values = list(flat)
            for place, tensor in zip(places, tensors, strict=True):
                values[place] = tensor
            args, kwargs = pytree.tree_unflatten(values, form)
            return op.decompose(*args, **kwargs)

        tensors = [flat[i] for i in places]
        with tensors[0].fake_mode, enable_python_dispatcher():
            module = make_fx(call, tracing_mode="real")(*tensors)
        values = _values(_resolved((node.args, node.kwargs), known))
        return self.run(module, values, self.emitter.scope)

    def _opaque(self, label: str, inputs: Sequence[Value], node: fx.Node) -> Any:
        fakes = _tensors(node.meta["val"])
        shapes = [self.emitter.sizes.shape(tensor) for tensor in fakes]
        types = [type_of(tensor.dtype) for tensor in fakes]
        self.emitter.opaque_calls[label] += 1
        outputs = self.emitter.add_all("opaque", inputs, shapes, types, label)
        return _shaped(with_fake(outputs, fakes), isinstance(node.meta["val"], list | tuple))

    def _overwrite(self, target: Any, result: Value, known: dict[fx.Node, Any]) -> None:
        """Later readers of an overwritten tensor read the new one; what it is a view of, too."""
        if not isinstance(target, fx.Node):
            return
        known[target] = result
        base = target
        while (source := _viewed(base)) is not None:
            base = source
        if base is not target and isinstance(known[base], Value):
            old = known[base]
            label = "write_into_view"
            new = self.emitter.add_all("opaque", [old, result], [old.shape], [old.type], label)
            known[base] = with_fake(new[0], [old.fake]) if old.fake is not None else new[0]


def _resolved(argument: Any, known: dict[fx.Node, Any]) -> Any:
    """Arguments with what is known in place of nodes."""
    if isinstance(argument, fx.Node):
        return known[argument]
    if isinstance(argument, list | tuple):
        return [_resolved(entry, known) for entry in argument]
    if isinstance(argument, dict):
        return {key: _resolved(value, known) for key, value in argument.items()}
    return argument


def _values(arguments: Any) -> list[Value]:
    return [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, Value)]


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors that a call returns."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [entry for entry in value if isinstance(entry, torch.Tensor)]
    return []


def _shaped(result: Result, several: bool) -> Any:
    """One value or several, as the call returns them."""
    if several:
        return [result] if isinstance(result, Value) else list(result)
    return result if isinstance(result, Value) else result[0]


def _short_name(node: fx.Node) -> str:
    name = getattr(getattr(node.target, "_schema", None), "name", str(node.target))
    return str(name).split("::")[-1].removesuffix("_nd").removesuffix("_forward")


def _scope_of(node: fx.Node) -> str:
    stack = node.meta.get("nn_module_stack")
    path = next(reversed(stack.values()))[0] if stack else ""
    return "" if path == _NO_SCOPE else path


def _viewed(node: fx.Node) -> fx.Node | None:
    """What a node is a view of, or None."""
    source = node.args[0] if node.op == "call_function" and node.args else None
    if not isinstance(source, fx.Node):
        return None
    if node.target is operator.getitem:
        return _viewed(source)
    op = node.target
    return source if isinstance(op, torch._ops.OpOverload) and is_view(op) else None


def _is_counter(values: list[Value]) -> bool:
    """A batch norm counts its steps; that is no work worth a node."""
    return bool(values) and values[0].shape == () and values[0].type in ("i64", "i32")

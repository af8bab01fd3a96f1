# SPDX-License-Identifier: Apache-2.0
"""Example inputs: what of them is the batch, and tensors that stand for them."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from .errors import Error

# Sizes that the batch may have while a module is captured: no other size should be the same, and
# PyTorch takes 0 and 1 for constants.
_BATCHES = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


@dataclass
class Examples:
    """What forward is called with, and the names of the sizes that stay open."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    open_sizes: list[tuple[torch.Tensor, dict[int, str]]]  # of each tensor: axis to symbol
    batch: int | None  # of the inputs as they were given


def split_inputs(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of forward."""
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, list | tuple):
        return tuple(example_inputs), {}
    return (example_inputs,), {}


def make_examples(
    module: torch.nn.Module,
    example_inputs: Any,
    dynamic: Mapping[str, Mapping[int, str]],
    open_batch: bool,
) -> Examples:
    """Tensors of the same shapes and types on the module's device; with ``open_batch`` the batch
    has a size that nothing else has. Throws Error(BadInput) for inputs that do not fit."""
    args, kwargs = split_inputs(example_inputs)
    arguments = _named(module, args, kwargs)
    unknown = [name for name in dynamic if name not in arguments]
    if unknown:
        raise Error(f"dynamic names '{unknown[0]}', but the inputs are {', '.join(arguments)}")
    axes = _open_axes(arguments, dynamic, open_batch)
    batch = _batch_of(arguments, axes)
    taken = {size for p in module.parameters() for size in p.shape}
    taken |= {size for t in _tensors(arguments) for size in t.shape}
    stand_in = next((size for size in _BATCHES if size not in taken), _BATCHES[-1])
    device = _device_of(module)
    open_sizes: list[tuple[torch.Tensor, dict[int, str]]] = []

    def stand_for(tensor: Any) -> Any:
        if not isinstance(tensor, torch.Tensor):
            return tensor
        symbols = axes.get(id(tensor), {})
        shape = [
            stand_in if symbols.get(i) == "batch" else int(s) for i, s in enumerate(tensor.shape)
        ]
        made = torch.zeros(shape, dtype=tensor.dtype, device=device or tensor.device)
        made.requires_grad_(tensor.requires_grad)
        if symbols:
            open_sizes.append((made, dict(symbols)))
        return made

    new_args, new_kwargs = pytree.tree_map(stand_for, (args, kwargs))
    return Examples(new_args, new_kwargs, open_sizes, batch)


def _named(
    module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments by the names that forward gives them."""
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise Error(
            f"example_inputs do not fit forward of {type(module).__name__}: {error}"
        ) from error
    arguments: dict[str, Any] = {}
    for name, value in bound.items():
        kind = inspect.signature(module.forward).parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    if not _tensors(arguments):
        raise Error("example_inputs hold no tensor")
    return arguments


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _open_axes(
    arguments: dict[str, Any], dynamic: Mapping[str, Mapping[int, str]], open_batch: bool
) -> dict[int, dict[int, str]]:
    """Of each tensor, by its id: which axes stay open. Unless `dynamic` says where the batch is,
    it is dimension 0 of the first tensor and of all others that are as long."""
    axes: dict[int, dict[int, str]] = {}
    for name, symbols in dynamic.items():
        for tensor in _tensors(arguments[name]):
            axes[id(tensor)] = {axis % tensor.dim(): symbol for axis, symbol in symbols.items()}
    explicit = any("batch" in symbols.values() for symbols in axes.values())
    if not open_batch or explicit:
        return axes
    tensors = [tensor for tensor in _tensors(arguments) if tensor.dim() > 0]
    for tensor in tensors:
        if tensor.shape[0] == tensors[0].shape[0]:
            axes.setdefault(id(tensor), {}).setdefault(0, "batch")
    return axes


def _batch_of(arguments: dict[str, Any], axes: dict[int, dict[int, str]]) -> int | None:
    for tensor in _tensors(arguments):
        for axis, symbol in axes.get(id(tensor), {}).items():
            if symbol == "batch":
                return int(tensor.shape[axis])
    first = next((tensor for tensor in _tensors(arguments) if tensor.dim() > 0), None)
    return None if first is None else int(first.shape[0])


def _device_of(module: torch.nn.Module) -> torch.device | None:
    """Of the first weight, or None where there is none."""
    for tensor in (*module.parameters(), *module.buffers()):
        return tensor.device
    return None


@contextlib.contextmanager
def weights_without_memory(module: torch.nn.Module, always: bool = False) -> Iterator[None]:
    """Weights that are fake become meta tensors meanwhile, which can be captured; with `always`
    all weights do."""
    swapped: list[tuple[torch.nn.Module, str, torch.Tensor]] = []
    made: dict[int, torch.Tensor] = {}
    for part in module.modules():
        for name, tensor in (*part._parameters.items(), *part._buffers.items()):
            if tensor is not None and (always or isinstance(tensor, FakeTensor)):
                swapped.append((part, name, tensor))
                made.setdefault(id(tensor), _on_meta(tensor))
    try:
        for part, name, tensor in swapped:
            setattr(part, name, made[id(tensor)])  # recurrent layers keep a list of their weights
        yield
    finally:
        for part, name, tensor in swapped:
            setattr(part, name, tensor)


def _on_meta(tensor: torch.Tensor) -> torch.Tensor:
    meta = torch.empty_strided(
        tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="meta"
    )
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(meta, requires_grad=tensor.requires_grad)
    return meta.requires_grad_(tensor.requires_grad)


@contextlib.contextmanager
def training_mode(module: torch.nn.Module, train: bool) -> Iterator[None]:
    """In the mode wanted; parts of a module in training that do not train stay as they are."""
    before = [(part, part.training) for part in module.modules()]
    if module.training != train:
        module.train(train)
    try:
        yield
    finally:
        for part, training in before:
            part.training = training

# SPDX-License-Identifier: Apache-2.0
"""Captures PyTorch modules by torch.export, which runs them on tensors without memory."""

from __future__ import annotations

import contextlib
import os
import traceback
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.export import Dim, ExportedProgram, ShapesCollection, export
from torch.export.graph_signature import InputKind, InputSpec, OutputKind

from .aten_translate import Translator
from .errors import Error
from .graphs import Graph
from .torch_emitter import Emitter, Value
from .torch_examples import Examples, make_examples, training_mode, weights_without_memory
from .torch_recurrent import WholeRecurrentLayers
from .torch_sizes import DependsOnData, NotAProduct, Sizes

_MOST_LISTED = 20  # operators in a note
_LONGEST = 300  # characters of PyTorch's own words in an error
_DATA_DEPENDENT = ("data-dependent", "DataDependent", "unbacked", "Dynamic output shape")


def capture(
    module: torch.nn.Module,
    example_inputs: Any,
    *,
    dynamic_batch: bool,
    dynamic: Mapping[str, Mapping[int, str]],
    train: bool,
    name: str | None,
) -> Graph:
    """The graph of a module; see :func:`foretrain.from_torch`."""
    if not isinstance(module, torch.nn.Module):
        raise Error(f"from_torch takes a torch.nn.Module, not {type(module).__name__}")
    title = name or type(module).__name__
    with training_mode(module, train), weights_without_memory(module):
        reason = ""
        if dynamic_batch or dynamic:
            examples = make_examples(module, example_inputs, dynamic, dynamic_batch)
            program, reason = _try_export(module, examples)
            if program is not None:
                try:
                    return _translate(module, program, examples, title, [])
                except (DependsOnData, NotAProduct) as error:
                    reason = str(error)
        return _capture_fixed(module, example_inputs, title, reason)


def _capture_fixed(module: torch.nn.Module, example_inputs: Any, title: str, reason: str) -> Graph:
    """With all sizes as in the example inputs; `reason` says why they are not open."""
    examples = make_examples(module, example_inputs, {}, open_batch=False)
    try:
        program = _export(module, examples)
    except Exception as error:
        raise _explained(module, error) from error
    note = f"all sizes are fixed, batch at {examples.batch}"
    try:
        return _translate(
            module, program, examples, title, [f"{note}: {reason}" if reason else note]
        )
    except (DependsOnData, NotAProduct) as error:
        raise Error(
            f"a size in {title} depends on the values of tensors ({error}); a graph has known "
            "sizes: pad to a fixed length instead",
            "Unsupported",
        ) from error


def _try_export(module: torch.nn.Module, examples: Examples) -> tuple[ExportedProgram | None, str]:
    """The program, or why it cannot be had with open sizes: PyTorch raises many kinds of errors."""
    try:
        return _export(module, examples), ""
    except Exception as error:
        return None, _first_line(error)


def _export(module: torch.nn.Module, examples: Examples) -> ExportedProgram:
    shapes: Any = ShapesCollection()  # type: ignore[no-untyped-call]
    for tensor, symbols in examples.open_sizes:
        shapes[tensor] = dict.fromkeys(symbols, Dim.AUTO)
    form = None
    if examples.open_sizes:
        form = shapes.dynamic_shapes(module, examples.args, examples.kwargs)
    with _quiet(), _default_device(module), WholeRecurrentLayers():
        return export(module, examples.args, examples.kwargs, dynamic_shapes=form, strict=False)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _default_device(module: torch.nn.Module) -> Iterator[None]:
    """A module without memory makes its constants without memory, too."""
    if any(tensor.is_meta for tensor in module.parameters()):
        with torch.device("meta"):
            yield
    else:
        yield


def _translate(
    module: torch.nn.Module,
    program: ExportedProgram,
    examples: Examples,
    title: str,
    notes: list[str],
) -> Graph:
    names, hints = _symbols(program, examples)
    symbols = list(dict.fromkeys(["batch", *names.values()]))
    lost = {s for _, axes in examples.open_sizes for s in axes.values()} - set(names.values())
    if lost:
        raise NotAProduct(f"PyTorch fixes {', '.join(sorted(lost))}")
    emitter = Emitter(title, symbols, Sizes(names, hints))
    inputs = _inputs(module, program, emitter)
    results = Translator(emitter).run(program.graph_module, inputs)
    returned = [
        value
        for value, spec in zip(results, program.graph_signature.output_specs, strict=False)
        if spec.kind is OutputKind.USER_OUTPUT and isinstance(value, Value)
    ]
    outputs, loss = _ends(emitter, returned, title, notes)
    fixed = examples.batch if notes and not names else None
    notes += _opaque_note(emitter)
    core = emitter.builder.finish(outputs, loss, notes)
    return Graph(core, examples.batch or 1, fixed)


def _symbols(program: ExportedProgram, examples: Examples) -> tuple[dict[Any, str], dict[Any, int]]:
    """The names of PyTorch's symbols and the values that they have with the examples."""
    fakes = [
        node.meta["val"]
        for node, spec in zip(
            program.graph_module.graph.nodes, program.graph_signature.input_specs, strict=False
        )
        if spec.kind is InputKind.USER_INPUT and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    leaves = torch.utils._pytree.tree_leaves((examples.args, examples.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    open_sizes = {id(tensor): axes for tensor, axes in examples.open_sizes}
    names: dict[Any, str] = {}
    hints: dict[Any, int] = {}
    for tensor, fake in zip(tensors, fakes, strict=True):
        for axis, size in enumerate(fake.shape):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                names[size.node.expr] = open_sizes.get(id(tensor), {}).get(axis, "batch")
                hints[size.node.expr] = int(tensor.shape[axis])
    return names, hints


def _inputs(
    module: torch.nn.Module, program: ExportedProgram, emitter: Emitter
) -> list[Value | Any]:
    """The values of all placeholders; parameters and buffers that nothing reads are there, too."""
    owned: dict[str, torch.Tensor] = {}
    values: dict[int, Value] = {}
    for role, tensors in (
        ("parameter", module.named_parameters(remove_duplicate=False)),
        ("buffer", module.named_buffers(remove_duplicate=False)),
    ):
        for name, tensor in tensors:
            owned[name] = tensor
            if id(tensor) not in values and tensor.numel() > 0:
                values[id(tensor)] = emitter.tensor(name, tensor, role)
    inputs = []
    nodes = program.graph_module.graph.nodes
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=False):
        fake = node.meta.get("val")
        own = owned.get(spec.target) if spec.target is not None else None
        if own is not None and id(own) in values:
            inputs.append(values[id(own)])
        elif isinstance(fake, torch.Tensor):
            inputs.append(emitter.tensor(_name_of(node.name, spec), fake, _role_of(spec)))
        else:
            inputs.append(fake)
    return inputs


def _name_of(name: str, spec: InputSpec) -> str:
    return spec.target if spec.target is not None else name


def _role_of(spec: InputSpec) -> str:
    return "input" if spec.kind is InputKind.USER_INPUT else "buffer"


def _ends(
    emitter: Emitter, returned: list[Value], title: str, notes: list[str]
) -> tuple[list[int], int | None]:
    """What inference returns and what training lowers: a scalar, or the sum of several."""
    floating = [v for v in returned if v.type not in ("i64", "i32", "i8", "bool")]
    if not floating:
        raise Error(
            f"{title} returns no tensor of floating-point numbers; return its outputs or its loss"
        )
    scalars = [v for v in floating if all(size == 1 for size in v.shape)]
    others = [v for v in floating if v not in scalars]
    emitter.scope = "loss"
    if len(scalars) > 1 and not others:
        notes.append(f"the loss is the sum of the {len(scalars)} scalars that are returned")
        sum_ = emitter.add("add", scalars, scalars[0].shape)
        return [v.id for v in scalars], sum_.id
    loss = scalars[0].id if scalars else None
    return [v.id for v in (others or scalars)], loss


def _opaque_note(emitter: Emitter) -> list[str]:
    calls = sorted(emitter.opaque_calls.items())
    if not calls:
        return []
    listed = ", ".join(f"{name} x{count}" for name, count in calls[:_MOST_LISTED])
    more = f" and {len(calls) - _MOST_LISTED} more" if len(calls) > _MOST_LISTED else ""
    return [f"opaque operators: {listed}{more}"]


def _first_line(error: BaseException) -> str:
    """PyTorch's own words, on one short line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _explained(module: torch.nn.Module, error: BaseException) -> Error:
    """What to do about an error that PyTorch raised while it captured a module."""
    title, where = type(module).__name__, _place(error)
    text = f"{type(error).__name__}: {error}"
    if any(word in text for word in _DATA_DEPENDENT):
        return Error(
            f"what {title} computes depends on the values of tensors{where}, which are not known "
            "before it runs; use torch.where or torch.cond, or keep that part out of the module",
            "Unsupported",
        )
    return Error(f"{title} does not run with these example inputs{where}: {_first_line(error)}")


def _place(error: BaseException) -> str:
    """The line of the user's own code that raised."""
    inside = os.path.dirname(torch.__file__)
    here = os.path.dirname(__file__)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((inside, here)) and not frame.filename.startswith("<")
    ]
    if not frames:
        return ""
    frame = frames[-1]
    return f" ({os.path.basename(frame.filename)}:{frame.lineno}: {frame.line})"

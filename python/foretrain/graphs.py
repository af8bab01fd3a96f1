# SPDX-License-Identifier: Apache-2.0
"""Models as graphs of operators."""

from __future__ import annotations

import json
import os
import pathlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from . import _core, humanise
from .errors import Error
from .record import Record
from .tables import html_list, html_table, text_table

_MOST_ROWS = 12  # of the operators that a representation lists


class Node(Record):
    """One operator with the shapes and counts that it has at the graph's batch."""

    op: str
    scope: str
    phase: str
    inputs: list[list[int]]
    outputs: list[list[int]]
    flops: float
    vector_flops: float
    read_bytes: float
    written_bytes: float


class Graph:
    """A model: its operators, tensors and parameters, seen at one batch size.

    Made by :func:`foretrain.graph`, :func:`foretrain.load`, :func:`foretrain.from_torch` and
    :func:`foretrain.from_huggingface`; given to :func:`foretrain.predict`.
    """

    def __init__(self, core: _core.Graph, batch: int = 1, fixed_batch: int | None = None) -> None:
        self._core = core
        self._batch = fixed_batch or batch
        self._fixed_batch = fixed_batch
        self._cached: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._core.name

    @property
    def symbols(self) -> list[str]:
        """Sizes that are left open, such as ``batch``."""
        return self._core.symbols

    @property
    def notes(self) -> list[str]:
        """What was assumed when the model was read."""
        return self._core.notes

    @property
    def parameters(self) -> int:
        """Number of learned values, frozen ones too; a tensor that is used twice counts once."""
        return self._core.parameters

    @property
    def batch(self) -> int:
        """The batch size at which FLOPs, bytes and nodes are counted."""
        return self._batch

    @property
    def fixed_batch(self) -> int | None:
        """The only batch size that the graph is good for, where it could not be left open."""
        return self._fixed_batch

    @property
    def forward_flops(self) -> float:
        """Of GEMMs and convolutions in the forward pass; a multiply-add is two."""
        return float(self._summary["forward_flops"])

    @property
    def backward_flops(self) -> float:
        """Of GEMMs and convolutions in the backward pass."""
        return float(self._summary["backward_flops"])

    @property
    def activation_bytes(self) -> float:
        """All that the forward pass writes."""
        return float(self._summary["activation_bytes"])

    @property
    def nodes(self) -> list[Node]:
        """The operators in execution order, backward pass included."""
        return [Node(node) for node in self._summary["nodes"]]

    def at(self, batch: int) -> Graph:
        """The same graph, counted at another batch size."""
        if self._fixed_batch not in (None, batch):
            raise Error(f"graph '{self.name}' is fixed at batch {self._fixed_batch}")
        return Graph(self._core, batch, self._fixed_batch)

    def bind(self, **values: int) -> Graph:
        """The graph with numbers in place of symbols, as in ``graph.bind(seq=2048)``."""
        return Graph(self._core.set_symbols(values), self._batch, self._fixed_batch)

    def tensors(self) -> list[dict[str, Any]]:
        """Every tensor: its shape, and where they are not the usual, name, type and role."""
        tensors: list[dict[str, Any]] = json.loads(self.ftg())["tensors"]
        return tensors

    def ftg(self) -> str:
        """The graph in Foretrain's own format, .ftg.json."""
        return self._core.ftg()

    def dot(self) -> str:
        """The graph in Graphviz's language."""
        return self._core.dot()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a ``.ftg.json`` file, which the command line reads too."""
        try:
            pathlib.Path(path).write_text(self.ftg(), encoding="utf-8")
        except OSError as error:
            raise Error(f"cannot write '{os.fspath(path)}': {error.strerror}", "Io") from error

    def to_dict(self) -> dict[str, Any]:
        """What ``foretrain graph --json`` prints."""
        return dict(self._summary)

    @property
    def _summary(self) -> dict[str, Any]:
        if self._cached is None:
            self._cached = json.loads(self._core.summary_json(self._batch))
        return self._cached

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("parameters", f"{self.parameters:,}"),
            ("forward", humanise.large(self.forward_flops, "FLOP")),
            ("backward", humanise.large(self.backward_flops, "FLOP")),
            ("activations", humanise.size(self.activation_bytes)),
        ]

    def _operators(self) -> list[tuple[str, str, str]]:
        count: Counter[str] = Counter()
        flops: Counter[str] = Counter()
        for node in self._summary["nodes"]:
            if node["phase"] == "forward":
                count[node["op"]] += 1
                flops[node["op"]] += node["flops"]
        order = sorted(count, key=lambda op: (-flops[op], -count[op], op))[:_MOST_ROWS]
        return [(op, str(count[op]), humanise.large(flops[op])) for op in order]

    def __repr__(self) -> str:
        if set(self.symbols) - {"batch"}:
            open_sizes = ", ".join(self.symbols)
            return f"Graph '{self.name}': {self.parameters:,} parameters, open in {open_sizes}"
        lines = [
            f"Graph '{self.name}' at batch {self._batch}",
            text_table(self._rows(), indent="  "),
        ]
        lines.append(text_table(self._operators(), ("operator", "nodes", "FLOP"), indent="  "))
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        if set(self.symbols) - {"batch"}:
            return None
        return (
            html_table(self._rows(), caption=f"{self.name} at batch {self._batch}")
            + html_table(self._operators(), ("operator", "nodes", "FLOP"))
            + html_list("Notes", self.notes)
        )


def graph(model: Any, example_inputs: Any = None, *, batch: int = 1) -> Graph:
    """What is understood of a model: its operators, shapes, FLOPs and parameters.

    ``model`` is a built-in name, the path of a model file, a :class:`Graph`, or a
    ``torch.nn.Module`` together with ``example_inputs``.
    """
    found = as_graph(model, example_inputs)
    if found is None:
        found = Graph(_core.find_graph(os.fspath(model)))
    return found.at(batch) if found.fixed_batch is None else found


def load(path: str | os.PathLike[str]) -> Graph:
    """Reads a model file in any format that Foretrain knows, ``.ftg.json`` among them."""
    return Graph(_core.find_graph(as_file(path)))


def from_huggingface(config: Any) -> Graph:
    """The model that a Hugging Face configuration describes.

    ``config`` is a dictionary, a ``transformers`` configuration object, a ``config.json`` or the
    folder that holds one.
    """
    if hasattr(config, "to_dict"):
        config = config.to_dict()
    if isinstance(config, Mapping):
        return Graph(_core.read_graph(json.dumps(dict(config), default=str), "the configuration"))
    path = pathlib.Path(config)
    return load(path / "config.json" if path.is_dir() else path)


def as_file(path: str | os.PathLike[str]) -> str:
    """A path that cannot be taken for the name of a built-in model."""
    text = os.fspath(path)
    return text if os.sep in text else os.path.join(os.curdir, text)


def as_graph(model: Any, example_inputs: Any) -> Graph | None:
    """The graph that a Python object stands for; None where it is a name or a path."""
    if isinstance(model, Graph):
        return model
    if isinstance(model, str | os.PathLike):
        if example_inputs is not None:
            raise Error("example_inputs belong to a torch.nn.Module, not to a name or a path")
        return None
    if _is_module(model):
        from .from_torch import from_torch

        if example_inputs is None:
            raise Error("a torch.nn.Module needs example_inputs: what its forward is called with")
        return from_torch(model, example_inputs)
    raise Error(
        "the model is a name, a path, a foretrain.Graph or a torch.nn.Module, not "
        f"{type(model).__name__}"
    )


def _is_module(model: Any) -> bool:
    """Without importing torch: a module of it exists only where it is imported."""
    return any(
        base.__module__ == "torch.nn.modules.module" and base.__name__ == "Module"
        for base in type(model).__mro__
    )

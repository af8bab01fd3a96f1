# SPDX-License-Identifier: Apache-2.0
"""The function that most users call, and the same for many requests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .changes import WhatIf
from .errors import Error
from .graphs import Graph, as_file, as_graph
from .report import Report
from .signature import with_fields

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .request import Request


@with_fields
def predict(model: Any, example_inputs: Any = None, **request: Unpack[Request]) -> Report:
    """Predicts time, memory, resource use and cost of one training job.

    ``model`` is a built-in name, the path of a model file, a :class:`Graph`, or a
    ``torch.nn.Module`` together with ``example_inputs``. The other arguments are the fields of a
    request, listed below; those that are None are left out. Other Python threads run meanwhile.

    >>> predict("resnet50", device="a100", workers=8, batch=128).step_time_s.value
    """
    text, graph = _prepared(model, example_inputs, request)
    return Report(json.loads(_core.predict_json(text, graph)))


def predict_many(
    requests: Iterable[Mapping[str, Any]], *, threads: int = 1
) -> list[Report | Error]:
    """Predicts many requests, on several threads; the answers are in their order.

    A request is a dictionary of the fields of :func:`predict` with its ``model``, a name or the
    path of a file. What is wrong with one is an :class:`Error` in its place and is not raised.
    """
    if threads < 1:
        raise Error("threads must be 1 or more")
    lines = [json_text(_given(request), "a request") for request in requests]
    return [_answer(json.loads(line)) for line in _core.predict_many_json(lines, threads)]


@dataclass(frozen=True)
class Variant:
    """One value of a field: a report, or the error that it leads to."""

    value: Any
    report: Report | None
    error: Error | None
    within_deadline: bool | None = None  # where a deadline was given
    cheapest: bool | None = None  # of those within it


def vary(
    model: Any,
    field: str,
    values: Iterable[Any],
    example_inputs: Any = None,
    *,
    deadline_s: float | None = None,
    **request: Unpack[Request],
) -> list[Variant]:
    """Predicts the same job once for each value of one field, such as ``batch``.

    A field of the strategy has a dot in its name, ``strategy.servers``. With ``deadline_s`` each
    variant says whether its job ends in so many seconds, and one of them that it is the cheapest.

    >>> [v.report.step_time_s.value for v in vary("resnet50", "batch", [32, 64], device="a100")]
    """
    if deadline_s is not None and not deadline_s > 0:
        raise Error("deadline_s must be above 0")
    text, graph = _prepared(model, example_inputs, request)
    values = list(values)
    texts = [json_text(value, "a value") for value in values]
    entries = json.loads(_core.vary_json(text, field, texts, graph, deadline_s))
    return [_variant(value, entry) for value, entry in zip(values, entries, strict=True)]


def _variant(value: Any, entry: dict[str, Any]) -> Variant:
    answer = _answer(entry.get("report", entry))
    return Variant(
        value,
        report=None if isinstance(answer, Error) else answer,
        error=answer if isinstance(answer, Error) else None,
        within_deadline=entry.get("within_deadline"),
        cheapest=entry.get("cheapest"),
    )


def what_if(model: Any, example_inputs: Any = None, **request: Unpack[Request]) -> WhatIf:
    """Predicts the job of :func:`predict` with one thing changed at a time, the best first.

    >>> what_if("resnet50", device="a100", workers=8).what_if[0].what
    """
    text, graph = _prepared(model, example_inputs, request)
    return WhatIf(json.loads(_core.what_if_json(text, graph)))


def json_text(value: Any, what: str) -> str:
    """The JSON of ``value``; paths become text."""
    try:
        return json.dumps(value, default=os.fspath, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Error(f"{what} cannot be written as JSON: {error}") from error


def _given(request: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request.items() if value is not None}


def _prepared(
    model: Any, example_inputs: Any, request: Mapping[str, Any]
) -> tuple[str, _core.Graph | None]:
    fields = _given(request)
    graph = as_graph(model, example_inputs)
    if graph is None:
        fields["model"] = model if isinstance(model, str) else as_file(model)
        return json_text(fields, "the request"), None
    fields["model"] = graph.name or "model"
    _check_batch(graph, fields)
    return json_text(fields, "the request"), graph._core


def _answer(answer: dict[str, Any]) -> Report | Error:
    if "error" in answer:
        return Error(answer["error"]["message"], answer["error"]["kind"])
    return Report(answer)


def _check_batch(graph: Graph, fields: dict[str, Any]) -> None:
    fixed = graph.fixed_batch
    if fixed is None:
        return
    if "batch" not in fields and "global_batch" not in fields:
        fields["batch"] = fixed
    if fields.get("batch", fixed) != fixed or "global_batch" in fields:
        raise Error(
            f"graph '{graph.name}' is fixed at batch {fixed}, for its shapes do not follow the "
            "batch; capture the module again with example inputs of the batch that you want"
        )

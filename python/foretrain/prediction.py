# SPDX-License-Identifier: Apache-2.0
"""The one function that most users call."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import Error
from .graphs import Graph, as_file, as_graph
from .report import Report

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .request import Request


def predict(model: Any, example_inputs: Any = None, **request: Unpack[Request]) -> Report:
    """Predicts time, memory, resource use and cost of one training job.

    ``model`` is a built-in name, the path of a model file, a :class:`Graph`, or a
    ``torch.nn.Module`` together with ``example_inputs``. The other arguments are the fields of a
    request; those that are None are left out. Other Python threads run meanwhile.

    >>> predict("resnet50", device="a100", workers=8, batch=128).step_time_s.value
    """
    fields: dict[str, Any] = {key: value for key, value in request.items() if value is not None}
    graph = as_graph(model, example_inputs)
    if graph is None:
        fields["model"] = model if isinstance(model, str) else as_file(model)
        return Report(json.loads(_core.predict_json(_request_text(fields), None)))
    fields["model"] = graph.name or "model"
    _check_batch(graph, fields)
    return Report(json.loads(_core.predict_json(_request_text(fields), graph._core)))


def _request_text(fields: dict[str, Any]) -> str:
    try:
        return json.dumps(fields, default=os.fspath, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Error(f"the request cannot be written as JSON: {error}") from error


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

# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules as graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from .errors import Error
from .graphs import Graph

if TYPE_CHECKING:
    import torch


def from_torch(
    module: torch.nn.Module,
    example_inputs: Any,
    *,
    dynamic_batch: bool = True,
    dynamic: Mapping[str, Mapping[int, str]] | None = None,
    train: bool = True,
    name: str | None = None,
    check: bool | Literal["joint"] = False,
) -> Graph:
    """Captures a PyTorch module as a graph, with the shapes of everything that it computes.

    Nothing is computed and no weight is allocated: the module may be on the meta device or made
    under ``FakeTensorMode``. ``example_inputs`` is what ``forward`` is called with: a tensor, a
    tuple, or a dictionary of keyword arguments; only shapes and types matter.

    The batch, which is dimension 0 of the inputs, stays open unless ``dynamic_batch`` is False or
    the module does not allow it, which the graph's notes then say. ``dynamic`` leaves other sizes
    open or says where the batch is: ``{"tokens": {0: "seq", 1: "batch"}}``; give them numbers
    with :meth:`Graph.bind`.

    A scalar output is the loss that training lowers. The module is captured in training mode
    unless ``train`` is False, and what ``requires_grad`` excludes is not trained. With ``check``
    the FLOPs of both passes are compared with those that PyTorch counts as it runs them, or with
    ``check="joint"`` with those of the joint graph that it traces of both, and an error is raised
    where they differ by more than 1 %.

    Raises :class:`Error`: ``BadInput`` where the module does not run with these inputs,
    ``Unsupported`` where what it computes depends on the values of tensors.
    """
    try:
        from .torch_capture import capture
    except ImportError as error:
        raise Error(
            "from_torch needs PyTorch 2.6 or later: pip install torch", "Unsupported"
        ) from error
    graph = capture(
        module,
        example_inputs,
        dynamic_batch=dynamic_batch,
        dynamic=dynamic or {},
        train=train,
        name=name,
    )
    if check:
        from .torch_check import check_flops

        check_flops(graph, module, example_inputs, train=train, joint=check == "joint")
    return graph

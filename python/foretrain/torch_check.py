# SPDX-License-Identifier: Apache-2.0
"""Compares the FLOPs of a captured graph with those that PyTorch counts itself."""

from __future__ import annotations

from typing import Any

import torch
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import FlopCounterMode, conv_backward_flop

from .errors import Error
from .graphs import Graph
from .torch_examples import split_inputs, training_mode, weights_without_memory

TOLERANCE = 0.01


def _conv_backward_flops(*args: Any, out_shape: Any, **kwargs: Any) -> int:
    """PyTorch's own formula counts the weight's gradient as if there were one group."""
    before, groups, mask = args[:10], args[9], args[10]
    formula: Any = conv_backward_flop
    of_input = formula(*before, [mask[0], False, False], out_val=out_shape)
    of_weight = formula(*before, [False, mask[1], False], out_val=out_shape)
    return int(of_input + of_weight // groups)


_FORMULAS = {torch.ops.aten.convolution_backward: _conv_backward_flops}


def pytorch_flops(
    module: torch.nn.Module, example_inputs: Any, *, train: bool = True
) -> tuple[int, int]:
    """FLOPs of GEMMs and convolutions in the forward and the backward pass, counted by
    PyTorch's own counter while the module runs without memory."""
    with training_mode(module, train), weights_without_memory(module, always=True):
        args, kwargs = pytree.tree_map(_without_memory, split_inputs(example_inputs))
        with torch.device("meta"):
            with FlopCounterMode(display=False) as forward:
                outputs = module(*args, **kwargs)
            start = _start_of(outputs)
            with FlopCounterMode(display=False, custom_mapping=_FORMULAS) as backward:
                if start is not None:
                    start.backward()  # type: ignore[no-untyped-call]
    return forward.get_total_flops(), backward.get_total_flops()


def joint_flops(module: torch.nn.Module, example_inputs: Any, *, train: bool = True) -> int:
    """FLOPs of GEMMs and convolutions in PyTorch's own joint graph: every ATen call of the
    module and of its autograd, traced without memory."""
    with training_mode(module, train), weights_without_memory(module, always=True):
        args, kwargs = pytree.tree_map(_without_memory, split_inputs(example_inputs))
        weights = {name: p for name, p in module.named_parameters() if p.requires_grad}

        def both(weights: dict[str, torch.Tensor], args: Any, kwargs: Any) -> Any:
            start = _start_of(functional_call(module, weights, args, kwargs))
            if start is None:
                return ()
            return torch.autograd.grad(start, list(weights.values()), allow_unused=True)

        with torch.device("meta"):
            joint = make_fx(both)(weights, args, kwargs)
            with FlopCounterMode(display=False, custom_mapping=_FORMULAS) as counter:
                joint(weights, args, kwargs)
    return int(counter.get_total_flops())


def _without_memory(leaf: Any) -> Any:
    return leaf.to("meta") if isinstance(leaf, torch.Tensor) else leaf


def _start_of(outputs: Any) -> torch.Tensor | None:
    """The scalar that is lowered: the loss, or the sum of what is returned."""
    tensors = [
        leaf
        for leaf in pytree.tree_leaves(outputs)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    scalars = [tensor for tensor in tensors if tensor.numel() == 1]
    if scalars and len(scalars) < len(tensors):
        return scalars[0].sum()
    return sum((tensor.sum() for tensor in tensors[1:]), tensors[0].sum()) if tensors else None


def graph_flops(graph: Graph) -> tuple[float, float]:
    """FLOPs of both passes as PyTorch counts them without memory: the plain form of attention
    keeps its scores, so its backward pass takes four GEMMs and not five."""
    again = sum(node.flops / 5 for node in graph.nodes if node.op == "attention_grad")
    return graph.forward_flops, graph.backward_flops - again


def check_flops(
    graph: Graph,
    module: torch.nn.Module,
    example_inputs: Any,
    *,
    train: bool = True,
    joint: bool = False,
) -> None:
    """Raises Error(Unsupported) where the FLOPs of a pass differ by more than 1 %; with `joint`
    those of both passes together, in PyTorch's own joint graph."""
    forward, backward = graph_flops(graph)
    try:
        if joint:
            counted = {
                "joint": (joint_flops(module, example_inputs, train=train), forward + backward)
            }
        else:
            theirs = pytorch_flops(module, example_inputs, train=train)
            counted = {"forward": (theirs[0], forward), "backward": (theirs[1], backward)}
    except RuntimeError as error:
        raise Error(f"PyTorch cannot run {graph.name} to count its FLOPs: {error}") from error
    for phase, (expected, ours) in counted.items():
        if abs(ours - expected) > TOLERANCE * max(expected, ours):
            raise Error(
                f"the {phase} pass of {graph.name} has {ours:.6g} FLOPs in the graph, but PyTorch "
                f"counts {expected:.6g}; the graph's nodes show what was understood",
                "Unsupported",
            )

# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers as one operator.

PyTorch follows a recurrent layer step by step even on fake tensors, which takes seconds for long
sequences. While a module is captured, its layers call operators that only know their shapes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


def _shapes(x: Tensor, hidden: Tensor, bidirectional: bool) -> tuple[Tensor, Tensor]:
    width = hidden.shape[2] * (2 if bidirectional else 1)
    return x.new_empty((x.shape[0], x.shape[1], width)), torch.empty_like(hidden)


@torch.library.custom_op("foretrain::lstm", mutates_args=())
def _lstm(
    input: Tensor,
    hx: list[Tensor],
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    raise NotImplementedError("only shapes are known")


@_lstm.register_fake
def _(  # type: ignore[no-untyped-def]
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    output, state = _shapes(input, hx[0], bidirectional)
    return output, state, torch.empty_like(hx[1])


def _simple(
    input: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor]:
    raise NotImplementedError("only shapes are known")


def _simple_fake(  # type: ignore[no-untyped-def]
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    return _shapes(input, hx, bidirectional)


def _register(name: str) -> Any:
    op = torch.library.custom_op(f"foretrain::{name}", _simple, mutates_args=())
    op.register_fake(_simple_fake)
    return op


_REPLACED = {"lstm": _lstm, **{name: _register(name) for name in ("gru", "rnn_tanh", "rnn_relu")}}


class WholeRecurrentLayers(TorchFunctionMode):
    """Replaces recurrent layers over tensors of one length; packed sequences stay."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        replaced = _REPLACED.get(getattr(func, "__name__", ""))
        if replaced is not None and len(args) == 9 and isinstance(args[3], bool):
            return replaced(*args)
        return func(*args, **(kwargs or {}))

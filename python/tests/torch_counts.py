# SPDX-License-Identifier: Apache-2.0
"""What PyTorch really does in a step, counted while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode


class Operators(TorchDispatchMode):
    """The names of the operators that ran."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def precision(name: str) -> Iterator[None]:
    if name == "fp32":
        yield
    else:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            yield


def saved_bytes(module: nn.Module, inputs: tuple[Tensor, ...], precision_name: str) -> int:
    """Of unique storages that autograd saves, what checkpoints keep among them, without parameters,
    buffers and single numbers (the total weight of the loss)."""
    own = {t.untyped_storage().data_ptr() for t in [*module.parameters(), *module.buffers()]}
    storages: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and tensor.numel() > 1:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        with precision(precision_name):
            loss = module(*inputs)
        total = sum(storages.values())
    del loss
    return total


def recomputed_operators(
    module: Any, inputs: tuple[Tensor, ...], precision_name: str
) -> list[list[str]]:
    """The operators that each checkpoint runs again, in the order of the backward pass."""
    runs: list[list[str]] = []

    class Again:
        def __enter__(self) -> None:
            self.mode = Operators()
            runs.append(self.mode.names)
            self.mode.__enter__()

        def __exit__(self, *error: Any) -> None:
            self.mode.__exit__(*error)

    module.contexts = lambda: (contextlib.nullcontext(), Again())
    with precision(precision_name):
        loss = module(*inputs)
    loss.backward()
    module.contexts = None
    return runs

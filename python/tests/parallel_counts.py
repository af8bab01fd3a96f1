# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's tensor parallel and pipeline modules and an all-to-all between experts exchange,
counted in processes over gloo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Call = tuple[str, int]

_FUNCTIONAL = {
    "all_reduce": "all_reduce",
    "all_reduce_": "all_reduce",
    "all_gather_into_tensor": "all_gather",
    "reduce_scatter_tensor": "reduce_scatter",
    "all_to_all_single": "all_to_all",
}
_C10D = {"send": "send", "allreduce_": "all_reduce", "alltoall_base_": "all_to_all"}


class Exchanges(TorchDispatchMode):
    """Every collective and every send in order: its kind and the bytes that this rank gives."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        from torch.distributed.tensor import DTensor

        if any(kind == DTensor for kind in types):
            return NotImplemented  # it says first what its ranks exchange
        name = func.overloadpacket.__name__
        if func.namespace == "_c10d_functional" and name in _FUNCTIONAL:
            self.calls.append((_FUNCTIONAL[name], args[0].nbytes))
        if func.namespace == "c10d" and name in _C10D:
            given = args[1] if name == "alltoall_base_" else args[0]  # that one: output, input
            tensors = [t for t in tree_leaves(given) if isinstance(t, Tensor)]
            self.calls.append((_C10D[name], sum(t.nbytes for t in tensors)))
        return func(*args, **(kwargs or {}))


class Mlp(nn.Module):
    """A linear layer that widens, and one that narrows, beside what comes in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(F.gelu(self.up(x)))


class Blocks(nn.Module):
    """Such blocks one after the other."""

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Mlp(width) for _ in range(count))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def tensor_parallel(make: Callable[[], Blocks], x: Tensor, ranks: int) -> list[Call]:
    """A step whose blocks are parallelised by columns, then rows."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    module = make()
    mesh = init_device_mesh("cpu", (ranks,))
    for layer in module.layers:
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    with Exchanges() as exchanges:
        module(x).sum().backward()
    return exchanges.calls


def pipelined(
    make: Callable[[], Blocks], x: Tensor, rank: int, ranks: int, micro_batches: int, schedule: str
) -> list[Call]:
    """What one stage of a step sends; the first step finds out shapes."""
    from torch.distributed import pipelining

    whole = make()
    each = len(whole.layers) // ranks
    part = nn.Sequential(*list(whole.layers)[rank * each : (rank + 1) * each])
    stage = pipelining.PipelineStage(part, rank, ranks, torch.device("cpu"))
    kind = pipelining.ScheduleGPipe if schedule == "gpipe" else pipelining.Schedule1F1B
    runs = kind(stage, micro_batches, loss_fn=lambda y, target: ((y - target) ** 2).mean())
    for _ in range(2):
        with Exchanges() as exchanges:
            if rank == 0:
                runs.step(x)
            elif rank == ranks - 1:
                runs.step(target=torch.zeros_like(x))
            else:
                runs.step()
    return exchanges.calls


class Experts(nn.Module):
    """Every rank has some of the experts. Tokens go to `active` of them each, to all equally often,
    and come back."""

    def __init__(self, width: int, ffn: int, experts: int, active: int) -> None:
        super().__init__()
        self.own = experts // dist.get_world_size()
        self.experts, self.active = experts, active
        self.up = nn.Parameter(torch.randn(self.own, width, ffn))
        self.down = nn.Parameter(torch.randn(self.own, ffn, width))

    def forward(self, x: Tensor) -> Tensor:
        from torch.distributed._functional_collectives import all_to_all_single_autograd

        def exchanged(y: Tensor) -> Tensor:
            return all_to_all_single_autograd(y, None, None, dist.group.WORLD)

        ranks = dist.get_world_size()
        width = x.shape[-1]
        tokens = x.reshape(-1, width).repeat_interleave(self.active, 0)
        chosen = torch.arange(len(tokens)) % self.experts
        order = torch.argsort(chosen, stable=True)
        sorted_ = tokens[order].contiguous()
        here = exchanged(sorted_)
        here = here.reshape(ranks, self.own, -1, width).transpose(0, 1).reshape(self.own, -1, width)
        y = F.silu(here @ self.up) @ self.down
        y = y.reshape(self.own, ranks, -1, width).transpose(0, 1).reshape(-1, width).contiguous()
        back = exchanged(y)
        summed = torch.zeros_like(tokens).index_copy(0, order, back)
        return summed.reshape(-1, self.active, width).sum(1).reshape(x.shape)


def expert_parallel(
    shape: tuple[int, ...], ffn: int, experts: int, active: int, layers: int
) -> list[Call]:
    """A step of layers of experts."""
    module = nn.Sequential(*(Experts(shape[-1], ffn, experts, active) for _ in range(layers)))
    x = torch.randn(shape, requires_grad=True)
    with Exchanges() as exchanges:
        module(x).sum().backward()
    return exchanges.calls

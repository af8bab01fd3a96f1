# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's data parallelism exchanges and keeps, counted in processes over gloo."""

from __future__ import annotations

import multiprocessing
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_PATIENCE_S = 600  # until a rank has answered

Inputs = tuple[Tensor, ...]
_COLLECTIVES = {
    "_allgather_base_": "all_gather",
    "allgather_": "all_gather",
    "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_": "reduce_scatter",
    "allreduce_": "all_reduce",
    "broadcast_": "broadcast",
}


class Collectives(TorchDispatchMode):
    """Every collective in order: its kind, the bytes that this rank gives, and those it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, int, int]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        if func.namespace == "c10d" and name in _COLLECTIVES:
            kind = _COLLECTIVES[name]
            if kind in ("all_gather", "reduce_scatter"):  # output, input
                self.calls.append((kind, _bytes(args[1]), _bytes(args[0])))
            else:
                self.calls.append((kind, _bytes(args[0]), 0))
        return func(*args, **(kwargs or {}))


def _bytes(tensors: Any) -> int:
    return sum(t.nbytes for t in tree_leaves(tensors) if isinstance(t, Tensor))


def _work(rank: int, ranks: int, store: str, job: Callable[[int], Any], results: Any) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    try:
        results.put((rank, job(rank), ""))
    except Exception as error:
        results.put((rank, None, f"{type(error).__name__}: {error}"))
    finally:
        dist.destroy_process_group()


def on_ranks(ranks: int, job: Callable[[int], Any]) -> list[Any]:
    """What `job` returns on each of the ranks, which are forked processes."""
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        store = str(pathlib.Path(folder) / "store")
        workers = [
            context.Process(target=_work, args=(rank, ranks, store, job, results))
            for rank in range(ranks)
        ]
        found: dict[int, Any] = {}
        try:
            for worker in workers:
                worker.start()
            for _ in workers:
                rank, result, error = results.get(timeout=_PATIENCE_S)
                assert not error, f"rank {rank}: {error}"
                found[rank] = result
            for worker in workers:
                worker.join()
        finally:
            for worker in workers:
                if worker.is_alive():
                    worker.kill()
    return [found[rank] for rank in range(ranks)]


def ddp_buckets(make: Callable[[], nn.Module], inputs: Inputs, **options: Any) -> list[int]:
    """Bytes of each all-reduce of a step of DistributedDataParallel, after its buckets were
    rebuilt in the order in which gradients are ready."""
    module = nn.parallel.DistributedDataParallel(make(), **options)
    buckets: list[int] = []

    def hook(_, bucket):  # type: ignore[no-untyped-def]  # DDP reads annotations, but no texts
        buckets.append(bucket.buffer().nbytes)
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    module.register_comm_hook(None, hook)
    for _ in range(2):  # the first step finds the order
        buckets.clear()
        module(*inputs).backward()
    return buckets


class WholeParameters(TorchDispatchMode):
    """The most bytes of whole parameters that fully_shard had at once: those in use, and those that
    were gathered and wait for it."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        groups = [part._get_fsdp_state()._fsdp_param_group for part in module.modules()
                  if hasattr(part, "_get_fsdp_state")]
        self.groups = [group for group in groups if group is not None]
        self.peak = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.peak = max(self.peak, self.now())
        return result

    def now(self) -> int:
        total = 0
        for group in self.groups:
            gathered = group._all_gather_result
            if gathered is not None:
                total += gathered.all_gather_output.untyped_storage().nbytes()
            for param in group.fsdp_params:
                whole = getattr(param, "_unsharded_param", None)
                total += 0 if whole is None else whole.untyped_storage().nbytes()
        return total


def fully_sharded(make: Callable[[], Any], inputs: Inputs, half: bool = False) -> dict[str, Any]:
    """A step of fully_shard with a unit for each block and one for the rest: its collectives, the
    most bytes of whole parameters at once, and those of this rank's shards."""
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    module = make()
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if half else MixedPrecisionPolicy()
    for layer in module.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(module, mp_policy=policy)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(2):
        with Collectives() as collectives, WholeParameters(module) as whole:
            module(*inputs).backward()
            optimizer.step()
            optimizer.zero_grad()
    return {
        "collectives": collectives.calls,
        "whole_bytes": whole.peak,
        "shard_bytes": sum(p.to_local().nbytes for p in module.parameters()),
    }


def zero_redundancy(make: Callable[[], nn.Module], inputs: Inputs) -> dict[str, Any]:
    """Collectives of a step of DDP with ZeroRedundancyOptimizer, and the bytes of Adam's states on
    this rank."""
    from torch.distributed.optim import ZeroRedundancyOptimizer

    module = nn.parallel.DistributedDataParallel(make())
    optimizer = ZeroRedundancyOptimizer(module.parameters(), torch.optim.Adam, lr=0.1)
    for _ in range(2):
        module(*inputs).backward()
        with Collectives() as collectives:
            optimizer.step()
        optimizer.zero_grad()
    states = sum(
        tensor.nbytes
        for state in optimizer.optim.state.values()
        for tensor in state.values()
        if isinstance(tensor, Tensor) and tensor.dim() > 0
    )
    return {"collectives": collectives.calls, "state_bytes": states}

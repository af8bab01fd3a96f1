# SPDX-License-Identifier: Apache-2.0
"""Times collectives between all ranks: Gloo between CPUs, NCCL between GPUs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from .train import join, leave


def _runs(kind: str, data: Tensor, rank: int, ranks: int) -> Callable[[], Any]:
    """One run of a collective in which every rank puts in `data`."""
    if kind == "all_reduce":
        return lambda: dist.all_reduce(data)
    if kind == "broadcast":
        return lambda: dist.broadcast(data, 0)
    if kind == "all_gather":
        parts = [torch.empty_like(data) for _ in range(ranks)]
        return lambda: dist.all_gather(parts, data)
    if kind == "reduce_scatter":
        target = torch.empty(data.numel() // ranks, device=data.device)
        whole = data[: target.numel() * ranks]
        return lambda: dist.reduce_scatter_tensor(target, whole)
    if kind == "point_to_point":
        if rank == 0:
            return lambda: dist.send(data, 1)
        return (lambda: dist.recv(data, 0)) if rank == 1 else (lambda: None)
    raise ValueError(f"unknown collective '{kind}'")


def _clock(run: Callable[[], Any], job: dict[str, Any], data: Tensor) -> list[float]:
    """As many runs on every rank; each begins when all are ready."""
    wait = torch.cuda.synchronize if data.is_cuda else (lambda: None)
    run()
    dist.barrier()
    start = time.perf_counter()
    run()
    wait()
    once = torch.tensor([time.perf_counter() - start], dtype=torch.float64, device=data.device)
    dist.all_reduce(once, dist.ReduceOp.MAX)
    count = max(job["repeats"], min(1000, int(job["seconds"] / max(float(once), 1e-6))))
    times = []
    for _ in range(count):
        dist.barrier()
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return times


def time_collectives(job: dict[str, Any]) -> dict[str, Any]:
    gpus = torch.cuda.device_count()
    job["backend"] = "nccl" if gpus else "gloo"
    device = torch.device("cpu")
    if gpus:
        if job["workers"] > gpus:
            raise ValueError(f"{job['workers']} ranks need as many GPUs, here are {gpus}")
        device = torch.device("cuda", job["rank"])
        torch.cuda.set_device(device)
    join(job)
    rows, skipped = [], []
    for kind in job["kinds"]:
        for size in job["sizes"]:
            data = torch.ones(max(size // 4, job["workers"]), device=device)
            try:
                times = _clock(_runs(kind, data, job["rank"], job["workers"]), job, data)
            except RuntimeError as error:
                skipped.append(f"{kind}: {error}".split("\n")[0])
                break
            rows.append(
                {
                    "kind": kind,
                    "backend": job["backend"],
                    "bytes": data.numel() * 4,
                    "time_s": statistics.median(times),
                    "spread_s": statistics.stdev(times) if len(times) > 1 else 0.0,
                    "repeats": len(times),
                }
            )
    leave(job)
    return {"rows": rows, "skipped": skipped}

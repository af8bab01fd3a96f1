# SPDX-License-Identifier: Apache-2.0
"""Trains a graph on this rank and says what each step took."""

from __future__ import annotations

import datetime
import gc
import itertools
import math
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from . import activity
from .data import DataSet
from .interpreter import FtgModule
from .servers import Client, Server

_COMPUTE_STEPS = 2  # without communication, after one to warm up
_OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-4),
    "momentum": lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-5),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-5),
}


def make_optimizer(name: str, parameters: Any) -> torch.optim.Optimizer:
    return _OPTIMIZERS[name](parameters)


class Stepper:
    """One step in the job's way of sharing; returns its end and the exposed time of sharing."""

    def __init__(self, module: FtgModule, job: dict[str, Any]) -> None:
        self._module: nn.Module = module
        self._client: Client | None = None
        self._optimizer: torch.optim.Optimizer | None = None
        self._last_gradient = 0.0
        self._hooks: list[Any] = []
        parameters = [p for p in module.parameters() if p.requires_grad]
        if job["strategy"] == "ps":
            addresses = [(host, int(port)) for host, port in job["server_addresses"]]
            self._client = Client(module, addresses)
        else:
            self._optimizer = make_optimizer(job["optimizer"], parameters)
            if job["workers"] > 1:
                self._module = nn.parallel.DistributedDataParallel(module)
                self._hooks = [p.register_hook(self._mark) for p in parameters]

    def _mark(self, _: Tensor) -> None:
        self._last_gradient = time.monotonic()

    def step(self, inputs: list[Tensor]) -> float:
        """Exposed seconds: of the pull, or from the last gradient to the end of all sums."""
        start = time.monotonic()
        if self._client:
            self._client.pull()
            exposed = time.monotonic() - start
            for parameter in self._module.parameters():
                parameter.grad = None
            self._module(*inputs).backward()
            return exposed
        assert self._optimizer is not None
        self._optimizer.zero_grad()
        self._last_gradient = 0.0
        self._module(*inputs).backward()
        exposed = time.monotonic() - self._last_gradient if self._last_gradient else 0.0
        self._optimizer.step()
        return exposed

    def close(self) -> None:
        """Lets go of everything: hooks keep what they belong to alive."""
        if self._client:
            self._client.pull()  # what was pushed last has been applied
            self._client.close()
        for hook in self._hooks:
            hook.remove()
        del self._module, self._optimizer, self._client


def compute_time(module: FtgModule, job: dict[str, Any], inputs: list[Tensor]) -> float:
    """Median of a step without communication: forward, backward and, with all-reduce, update."""
    parameters = [p for p in module.parameters() if p.requires_grad]
    update = job["strategy"] != "ps"
    optimizer = make_optimizer(job["optimizer"], parameters)
    times = []
    for _ in range(1 + _COMPUTE_STEPS):
        start = time.monotonic()
        optimizer.zero_grad()
        module(*inputs).backward()
        if update:
            optimizer.step()
        times.append(time.monotonic() - start)
    optimizer.zero_grad()
    return statistics.median(times[1:])


def join(job: dict[str, Any]) -> None:
    """The group of all workers; servers are not in it."""
    if job["workers"] > 1:
        dist.init_process_group(
            job.get("backend", "gloo"),
            init_method=f"tcp://{job['master']}",
            rank=job["rank"],
            world_size=job["workers"],
            timeout=datetime.timedelta(seconds=120),
        )


def leave(job: dict[str, Any]) -> None:
    if job["workers"] > 1:
        dist.barrier()
        dist.destroy_process_group()


def agree(job: dict[str, Any], mine: float) -> float:
    """The largest of all workers' numbers."""
    if job["workers"] == 1:
        return mine
    value = torch.tensor([mine], dtype=torch.float64)
    dist.all_reduce(value, dist.ReduceOp.MAX)
    return float(value)


def steps_to_run(job: dict[str, Any], step_s: float) -> int:
    wanted = max(int(job["steps"]), math.ceil(job["seconds"] / max(step_s, 1e-6)))
    return int(agree(job, min(wanted, 100_000)))


def serve(job: dict[str, Any]) -> dict[str, Any]:
    """A parameter server's part of a job."""
    module = FtgModule(job["graph"], job["batch"], job["seed"])
    server = Server(module, job["rank"], job, lambda p: make_optimizer(job["optimizer"], p))
    if not job.get("whole"):
        activity.start_log(job["memory_window_s"])
    try:
        server.serve(tuple(job["listen"]))
    finally:
        log = None if job.get("whole") else activity.stop_log()
    return _memory(log)


def train(job: dict[str, Any]) -> dict[str, Any]:
    """A worker's part of a job: step times on CLOCK_MONOTONIC, after the warm-up."""
    gc.collect()  # what is left of the job before
    before = activity.peak_bytes()
    module = FtgModule(job["graph"], job["batch"], job["seed"] + job["rank"])
    inputs = module.inputs()
    result: dict[str, Any] = {}
    if not job.get("whole"):
        result["compute_s"] = compute_time(module, job, inputs)
    join(job)
    stepper = Stepper(module, job)
    if job.get("whole"):
        batches = _whole_job(job, module)
        result |= _run(stepper, batches)
    else:
        warm = _run(stepper, (inputs for _ in range(job["warm_up"])))
        count = steps_to_run(job, min(warm["steps_s"], default=result["compute_s"]))
        activity.start_log(job["memory_window_s"])
        pages = _new_pages()
        result |= _run(stepper, (inputs for _ in range(count)))
        result["new_page_bytes"] = (_new_pages() - pages) * resource.getpagesize() / count
        result |= _memory(activity.stop_log())
        if result["moved_bytes"]:
            result["moved_bytes_per_step"] = round(sum(result["moved_bytes"]) / count)
    stepper.close()
    leave(job)
    memory = activity.peak_bytes()
    result["peak_bytes"] = memory[0] - before[1] if memory and before else None
    result["parameters"] = sum(p.numel() for p in module.parameters())
    return result


def _run(stepper: Stepper, batches: Iterator[list[Tensor]]) -> dict[str, Any]:
    ends, exposed = [time.monotonic()], []
    for inputs in batches:
        exposed.append(stepper.step(inputs))
        ends.append(time.monotonic())
    times = [after - before for before, after in itertools.pairwise(ends)]
    return {"start_s": ends[0], "end_s": ends[-1], "steps_s": times, "exposed_s": exposed}


def _new_pages() -> int:
    """That the system has given to this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _whole_job(job: dict[str, Any], module: FtgModule) -> Iterator[list[Tensor]]:
    samples = job["samples"] // job["workers"]
    data = DataSet(module, samples, job["batch"])
    for _ in range(job["epochs"]):
        for part in data.epoch():
            yield data.batch(part)


def _memory(log: tuple[float, list[float]] | None) -> dict[str, Any]:
    if log is None:
        return {"moved_start_s": None, "moved_bytes": None}
    return {"moved_start_s": log[0], "moved_bytes": [round(value) for value in log[1]]}

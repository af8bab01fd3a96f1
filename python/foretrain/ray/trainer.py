# SPDX-License-Identifier: Apache-2.0
"""What a worker of Ray Train does in a measured job, and what it saw.

Ray sends this module's text along, and the job has that of foretrain_lab, so that nodes need Ray
and PyTorch alone: it may import nothing of ours before `_import_lab`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.abc
import importlib.machinery
import os
import pathlib
import statistics
import sys
import time
from typing import Any

_PERIOD_US = 10_000  # of a share of a core: shorter ones are biased, longer ones make bursts
_LOOK_S = 0.5


class Results:
    """An actor that keeps what workers saw of each job until the one who asked takes it."""

    def __init__(self) -> None:
        self._seen: dict[int, dict[int, dict[str, Any]]] = {}

    def add(self, job: int, rank: int, seen: dict[str, Any]) -> None:
        self._seen.setdefault(job, {})[rank] = seen

    def take(self) -> list[list[dict[str, Any]]]:
        """Of each job, in order, what its workers saw by rank."""
        seen, self._seen = self._seen, {}
        return [[ranks[rank] for rank in sorted(ranks)] for _, ranks in sorted(seen.items())]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports foretrain_lab from texts."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self._sources:
            return None
        package = name == "foretrain_lab"
        return importlib.machinery.ModuleSpec(name, self, is_package=package)

    def exec_module(self, module: Any) -> None:
        name = module.__name__
        exec(compile(self._sources[name], f"<{name}>", "exec"), module.__dict__)


def _import_lab(sources: dict[str, str]) -> None:
    if not any(type(finder).__name__ == "_Finder" for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(sources))


def _own_group() -> tuple[pathlib.Path, pathlib.Path]:
    """The control group of this process that may limit CPUs, and the one to make others in.

    Of version 2 a group with processes has no groups below that limit: they stand beside it.
    """
    root = pathlib.Path("/sys/fs/cgroup")
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            own = pathlib.Path(f"{root}/cpu{path}")
            return own, own
        if controllers == "" and (root / "cgroup.controllers").exists():
            own = pathlib.Path(f"{root}{path}")
            return own, own.parent
    raise OSError("no control group limits CPUs here")


def limit_cpus(cpus: float) -> tuple[pathlib.Path, pathlib.Path]:
    """Moves this process into a control group of its own that gets so many cores."""
    before, parent = _own_group()
    group = parent / f"foretrain-worker-{time.monotonic_ns()}"
    group.mkdir()
    quota = round(cpus * _PERIOD_US)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota} {_PERIOD_US}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota))
    (group / "cgroup.procs").write_text(str(os.getpid()))
    return group, before


def unlimit(groups: tuple[pathlib.Path, pathlib.Path] | None) -> None:
    if groups is None:
        return
    with contextlib.suppress(OSError):
        (groups[1] / "cgroup.procs").write_text(str(os.getpid()))
        groups[0].rmdir()


def moved_bytes() -> tuple[int, int]:
    """Received and sent by this host's interfaces so far, without what stays on the host."""
    received = sent = 0
    for line in pathlib.Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]:
        name, numbers = line.split(":", 1)
        if name.strip() != "lo":
            counts = numbers.split()
            received, sent = received + int(counts[0]), sent + int(counts[8])
    return received, sent


def _processor_s() -> list[float]:
    """CPU seconds of this machine so far, by kind, as Linux counts them."""
    with open("/proc/stat", encoding="utf-8") as file:
        numbers = file.readline().split()[1:]
    return [int(word) / os.sysconf("SC_CLK_TCK") for word in numbers]


def busy_cores() -> float:
    """Cores of this machine that are in use, by whomever, over half a second."""

    def used() -> float:
        numbers = _processor_s()
        return sum(numbers[:3]) + sum(numbers[5:7])  # not idle, not waiting for a disk

    before, start = used(), time.monotonic()
    time.sleep(_LOOK_S)
    return (used() - before) / (time.monotonic() - start)


def stolen_s() -> float:
    """CPU seconds so far that this machine, a virtual one, asked for and did not get."""
    return _processor_s()[7]


def forget_peak() -> int:
    """The peak of this process's memory counts from here on; what is resident now."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return peak_bytes()


def peak_bytes() -> int:
    """The most resident memory of this process since `forget_peak`."""
    for line in pathlib.Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status does not tell the peak of memory")


class _Steps:
    """Times of steps, and of each how long it waited for the others' gradients."""

    def __init__(self, module: Any, model: Any, optimizer: Any) -> None:
        self._model, self._optimizer = model, optimizer
        self._last_gradient = 0.0
        self.times_s: list[float] = []
        self.exposed_s: list[float] = []
        if model is not module:
            for parameter in module.parameters():
                if parameter.requires_grad:
                    parameter.register_hook(self._mark)

    def _mark(self, _: Any) -> None:
        self._last_gradient = time.monotonic()

    def step(self, inputs: list[Any]) -> None:
        start = time.monotonic()
        self._last_gradient = 0.0
        self._optimizer.zero_grad()
        self._model(*inputs).backward()
        if self._last_gradient:
            self.exposed_s.append(time.monotonic() - self._last_gradient)
        self._optimizer.step()
        self.times_s.append(time.monotonic() - start)


def train(start: dict[str, Any]) -> None:
    """The training function of a TorchTrainer: jobs in a row, their epochs timed one by one."""
    import ray
    import ray.train
    import ray.train.torch

    _import_lab(start["sources"])
    context = ray.train.get_context()
    rank, workers = context.get_world_rank(), context.get_world_size()
    node = ray.get_runtime_context().get_node_id()
    _warm_up(workers)
    groups = limit_cpus(start["cpus"]) if start["limit"] else None
    fresh_bytes = None
    try:
        for number, job in enumerate(start["jobs"]):
            graph = start["graphs"][job["model"]]
            seen = _steady(
                lambda: _train(graph, job, start["cpus"], rank, workers), start["steady"], workers
            )
            # DDP keeps a part of what earlier jobs had; a process of its own would begin without.
            left_bytes = seen.pop("bytes_before")
            fresh_bytes = fresh_bytes or left_bytes
            seen["memory_bytes"] -= left_bytes - fresh_bytes
            ray.get(start["results"].add.remote(number, rank, seen | {"node": node}))
    finally:
        unlimit(groups)


def _steady(run: Any, steady: dict[str, Any], workers: int) -> dict[str, Any]:
    """The first of `run`'s tries that had its processors to itself, or the best of them."""
    import torch
    import torch.distributed as dist

    kept: dict[str, Any] = {}
    least = float("inf")
    for number in range(steady["tries"]):
        seen = run() | {"tries": number + 1}
        stolen = torch.tensor(seen["stolen_s"] / sum(seen["epochs_s"]))
        if workers > 1:
            dist.broadcast(stolen, 0)  # so that all keep the same
        if stolen < least:
            kept, least = seen, float(stolen)
        if steady["most_stolen"] is None or least <= steady["most_stolen"]:
            break
    return kept


def _warm_up(workers: int) -> None:
    """What libraries take once for their first step, so that every job finds it taken."""
    import torch

    module: Any = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8, 8))
    module = torch.nn.parallel.DistributedDataParallel(module) if workers > 1 else module
    module(torch.ones(2, 3, 3, 3)).sum().backward()


def _train(
    graph: dict[str, Any], job: dict[str, Any], cpus: float, rank: int, workers: int
) -> dict[str, Any]:
    import ray.train.torch
    import torch
    import torch.distributed as dist
    from foretrain_lab.data import DataSet
    from foretrain_lab.interpreter import FtgModule
    from foretrain_lab.train import make_optimizer
    from foretrain_lab.worker import machine

    bytes_before = forget_peak()
    torch.set_num_threads(max(1, int(cpus)))
    module = FtgModule(graph, job["batch"], job["seed"] + rank)
    data = DataSet(module, job["samples"] // workers, job["batch"])
    model = ray.train.torch.prepare_model(module)
    steps = _Steps(module, model, make_optimizer(job["optimizer"], module.parameters()))
    load = busy_cores() if rank == 0 else None
    if workers > 1:
        dist.barrier()
    began, cpu_before, moved_before = time.time(), time.process_time(), moved_bytes()
    stolen_before = stolen_s()
    epochs_s = []
    for _ in range(job["epochs"]):
        start = time.monotonic()
        for part in data.epoch():
            steps.step(data.batch(part))
        epochs_s.append(time.monotonic() - start)
    cpu_s = time.process_time() - cpu_before
    received, sent = (now - before for now, before in zip(moved_bytes(), moved_before, strict=True))
    return {
        "began": began,
        "load_before": load,
        "stolen_s": stolen_s() - stolen_before,
        "epochs_s": epochs_s,
        "steps_s": steps.times_s,
        "exposed_s": statistics.median(steps.exposed_s) if steps.exposed_s else None,
        "cpu_s": cpu_s,
        "cpu_before_s": cpu_before,
        "bytes_before": bytes_before,
        "memory_bytes": peak_bytes(),
        "received_bytes": received,
        "sent_bytes": sent,
        "parameters": sum(p.numel() for p in module.parameters()),
        "machine": machine() | {"pytorch": torch.__version__},
    }

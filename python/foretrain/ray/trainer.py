# SPDX-License-Identifier: Apache-2.0
"""What a worker of Ray Train does in a measured job, and what it saw.

Ray sends this module's text along, and the job has that of foretrain_lab, so that nodes need Ray
and PyTorch alone: it may import nothing of ours before `_import_lab`.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import os
import pathlib
import resource
import statistics
import sys
import time
from typing import Any

_PERIOD_US = 10_000  # of a share of a core: shorter ones are biased, longer ones make bursts


class Results:
    """An actor that keeps what workers saw until the one who asked takes it."""

    def __init__(self) -> None:
        self._seen: dict[int, dict[str, Any]] = {}

    def add(self, rank: int, seen: dict[str, Any]) -> None:
        self._seen[rank] = seen

    def take(self) -> list[dict[str, Any]]:
        seen, self._seen = self._seen, {}
        return [seen[rank] for rank in sorted(seen)]


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


def train(job: dict[str, Any]) -> None:
    """The training function of a TorchTrainer: one job, its epochs timed one by one."""
    import ray
    import ray.train
    import ray.train.torch

    _import_lab(job["sources"])
    context = ray.train.get_context()
    groups = limit_cpus(job["cpus"]) if job["limit"] else None
    try:
        seen = _train(job, context.get_world_rank(), context.get_world_size())
    finally:
        unlimit(groups)
    seen["node"] = ray.get_runtime_context().get_node_id()
    ray.get(job["results"].add.remote(context.get_world_rank(), seen))


def _train(job: dict[str, Any], rank: int, workers: int) -> dict[str, Any]:
    import ray.train.torch
    import torch
    import torch.distributed as dist
    from foretrain_lab.data import DataSet
    from foretrain_lab.interpreter import FtgModule
    from foretrain_lab.train import make_optimizer
    from foretrain_lab.worker import machine

    torch.set_num_threads(max(1, int(job["cpus"])))
    module = FtgModule(job["graph"], job["batch"], job["seed"] + rank)
    data = DataSet(module, job["samples"] // workers, job["batch"])
    model = ray.train.torch.prepare_model(module)
    steps = _Steps(module, model, make_optimizer(job["optimizer"], module.parameters()))
    if workers > 1:
        dist.barrier()
    began, cpu_before, moved_before = time.time(), time.process_time(), moved_bytes()
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
        "epochs_s": epochs_s,
        "steps_s": steps.times_s,
        "exposed_s": statistics.median(steps.exposed_s) if steps.exposed_s else None,
        "cpu_s": cpu_s,
        "cpu_before_s": cpu_before,
        "memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "received_bytes": received,
        "sent_bytes": sent,
        "parameters": sum(p.numel() for p in module.parameters()),
        "machine": machine() | {"pytorch": torch.__version__},
    }

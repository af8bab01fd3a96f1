# SPDX-License-Identifier: Apache-2.0
"""Trains with Ray Train, job after job, and keeps what was measured."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import Error
from ..graphs import graph
from ..measurements import import_measurements
from . import cluster, trainer
from .campaign import Campaign, Configuration
from .progress import Progress
from .results import Folder

_LOOK_S = 0.5


@dataclass(frozen=True)
class Options:
    address: str = cluster.LOCAL
    output: pathlib.Path = pathlib.Path("ray-profile")
    store: pathlib.Path | None = None
    storage: str | None = None  # a folder that all nodes share, where Ray Train wants one
    most: int | None = None  # runs of this call
    quiet_cores: float | None = None  # wait until this machine uses fewer
    patience_s: float = 30
    say: Callable[[str], object] = print


@dataclass
class Summary:
    total: int = 0
    found: int = 0
    measured: int = 0
    missing: int = 0


def lab_sources() -> dict[str, str]:
    """The texts of foretrain_lab, whose modules make a graph run: name to text."""
    spec = importlib.util.find_spec("foretrain_lab")
    if spec is None or not spec.submodule_search_locations:
        raise Error("the package foretrain_lab is not installed; `pip install .` brings it")
    folder = pathlib.Path(next(iter(spec.submodule_search_locations)))
    sources = {f"foretrain_lab.{file.stem}": file for file in folder.glob("*.py")}
    sources["foretrain_lab"] = sources.pop("foretrain_lab.__init__")
    return {name: file.read_text(encoding="utf-8") for name, file in sources.items()}


def busy_cores(over_s: float = _LOOK_S) -> float:
    """Cores of this machine that are in use, by whomever."""

    def used() -> int:
        with open("/proc/stat", encoding="utf-8") as file:
            numbers = [int(word) for word in file.readline().split()[1:]]
        return sum(numbers[:3]) + sum(numbers[5:7])  # not idle, not waiting for a disk

    before, start = used(), time.monotonic()
    time.sleep(over_s)
    return (used() - before) / 100 / (time.monotonic() - start)


def profile(campaign: Campaign, options: Options) -> Summary:
    """Runs what the output folder does not hold yet. A job that fails does not end the rest."""
    folder = Folder(options.output)
    runs = campaign.runs()
    left = [
        (one, n) for one, n in runs if not folder.has(campaign.name, one.key(), n)
    ]  # fmt: skip
    summary = Summary(total=len(runs), found=len(runs) - len(left))
    graphs = _graphs({one.model for one, _ in left})
    left = left[: options.most]
    try:
        if left:
            with cluster.connected(options.address, cpus=_local_cpus(left)) as ray:
                _check_room(ray, left)
                folder.introduce(campaign, _moment())
                bench = _Bench(ray, campaign, options, graphs)
                _measure_all(bench, left, folder, summary)
    finally:
        if options.store is not None and folder.runs:
            import_measurements(options.output, store=options.store)
    return summary


def _graphs(models: set[str]) -> dict[str, Any]:
    """Every model must be there before anything runs."""
    return {model: json.loads(graph(model).ftg()) for model in sorted(models)}


def _local_cpus(left: list[tuple[Configuration, int]]) -> int:
    """Of a Ray that is started for this: as many as the largest job asks for."""
    return max(1, math.ceil(max(one.workers * one.cpus for one, _ in left)))


def _check_room(ray: Any, left: list[tuple[Configuration, int]]) -> None:
    nodes = cluster.nodes_of(ray)
    for one, _ in left:
        places = sum(int(n["Resources"]["CPU"] / one.cpus + 1e-9) for n in nodes)
        if one.placement == "STRICT_SPREAD":
            places = sum(n["Resources"]["CPU"] + 1e-9 >= one.cpus for n in nodes)
        if places < one.workers:
            raise Error(
                f"the cluster has room for {places} workers of {one.cpus:g} CPUs with placement "
                f"{one.placement}; a job asks for {one.workers}",
                "Unsupported",
            )


def _moment() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class _Bench:
    """What all runs share."""

    def __init__(
        self, ray: Any, campaign: Campaign, options: Options, graphs: dict[str, Any]
    ) -> None:
        self.campaign, self.options = campaign, options
        self._ray, self._graphs = ray, graphs
        self._train = cluster.module("ray.train")
        self._torch = cluster.module("ray.train.torch")
        ray.cloudpickle.register_pickle_by_value(trainer)
        self._sources = lab_sources()
        self._results = ray.remote(num_cpus=0)(trainer.Results).remote()
        self._folder = tempfile.TemporaryDirectory(prefix="foretrain-ray-")

    def wait_for_quiet(self) -> float:
        """Cores in use on this machine just before the run."""
        end = time.monotonic() + self.options.patience_s
        while True:
            busy = busy_cores()
            limit = self.options.quiet_cores
            if limit is None or busy <= limit or time.monotonic() > end:
                return busy

    def run(self, one: Configuration, repeat: int) -> tuple[dict[str, Any], Any, list[float]]:
        """A row of runs, the machine and the times of steps. Raises what Ray raises."""
        load = self.wait_for_quiet()
        self._ray.get(self._results.take.remote())  # of a run that failed
        started, began = _moment(), time.time()
        self._trainer(one, repeat).fit()
        whole_s = time.time() - began
        seen = self._ray.get(self._results.take.remote())
        if len(seen) != one.workers:
            raise Error(f"{len(seen)} of {one.workers} workers told what they saw", "Io")
        nodes = len({worker["node"] for worker in seen})
        details = told(seen, began, whole_s, nodes) | {"load_before": load}
        steps_s = seen[0]["steps_s"]
        row = {
            "started": started,
            "status": "ok",
            "steps": len(steps_s),
            "step_mean_s": statistics.fmean(steps_s),
            "step_median_s": statistics.median(steps_s),
            "step_sd_s": statistics.pstdev(steps_s),
            "exposed_sync_s": _mean([w["exposed_s"] for w in seen if w["exposed_s"] is not None]),
            "details": json.dumps(details, separators=(",", ":")),
            "request": one.request(math.ceil(one.workers / nodes)),
        }
        return row, seen[0]["machine"], steps_s

    def _trainer(self, one: Configuration, repeat: int) -> Any:
        job = {
            "graph": self._graphs[one.model],
            "sources": self._sources,
            "results": self._results,
            "limit": self.campaign.limit,
            "samples": one.samples,
            "batch": one.batch,
            "epochs": one.epochs,
            "cpus": one.cpus,
            "optimizer": one.optimizer,
            "seed": 1000 * repeat,
        }
        return self._torch.TorchTrainer(
            trainer.train,
            train_loop_config=job,
            torch_config=self._torch.TorchConfig(backend="gloo"),
            scaling_config=self._train.ScalingConfig(
                num_workers=one.workers,
                use_gpu=False,
                resources_per_worker={"CPU": one.cpus},
                placement_strategy=one.placement,
            ),
            run_config=self._train.RunConfig(
                storage_path=self.options.storage or self._folder.name,
            ),
        )


def told(seen: list[dict[str, Any]], began: float, whole_s: float, nodes: int) -> dict[str, Any]:
    """What a run's workers saw, as the numbers of the run; the slowest worker ends an epoch."""
    epochs_s = [max(times) for times in zip(*(w["epochs_s"] for w in seen), strict=True)]
    several = nodes > 1  # on one node nothing leaves it
    return {
        "epoch_s": _round(statistics.median(epochs_s)),
        "epochs_s": [_round(value) for value in epochs_s],
        "train_s": _round(sum(epochs_s)),
        "startup_s": _round(max(w["began"] for w in seen) - began),
        "whole_s": _round(whole_s),
        "cpu_s": _round(sum(w["cpu_s"] for w in seen)),
        "cpu_startup_s": _round(sum(w["cpu_before_s"] for w in seen)),
        "memory_bytes": max(w["memory_bytes"] for w in seen),
        "sent_bytes": sum(w["sent_bytes"] for w in seen) if several else None,
        "received_bytes": sum(w["received_bytes"] for w in seen) if several else None,
        "nodes": nodes,
        "parameters": seen[0]["parameters"],
    }


def _round(value: float) -> float:
    return float(f"{value:.6g}")


def _mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def machine_of(seen: dict[str, Any]) -> dict[str, Any]:
    """The store's row of the machine of worker 0."""
    mark = hashlib.sha256(seen["name"].encode()).hexdigest()[:16]
    return {key: value for key, value in seen.items() if key != "name"} | {"id": f"ray-{mark}"}


_NO_MACHINE = {"id": "ray-unknown"}


def _measure_all(
    bench: _Bench, left: list[tuple[Configuration, int]], folder: Folder, summary: Summary
) -> None:
    options, campaign = bench.options, bench.campaign
    with Progress("runs", len(left)) as progress:
        for number, (one, repeat) in enumerate(left):
            progress.show(number)
            good = False
            for _ in range(campaign.attempts):
                row, machine, steps_s = _attempt(bench, one, repeat)
                row |= {"campaign": campaign.name, "configuration": one.key(), "repeat": repeat}
                row["setting"] = f"ray{one.workers}"
                folder.add(row, machine, steps_s)
                good = row["status"] == "ok"
                if good:
                    break
            summary.measured += good
            summary.missing += not good
            if not sys.stderr.isatty():
                options.say(_line(number + 1, len(left), one, repeat, row))


def _attempt(
    bench: _Bench, one: Configuration, repeat: int
) -> tuple[dict[str, Any], dict[str, Any], list[float]]:
    started = _moment()
    try:
        row, machine, steps_s = bench.run(one, repeat)
        return row, machine_of(machine), steps_s
    except KeyboardInterrupt:
        raise
    except Exception as error:  # of Ray, of Ray Train, of the worker: the next job may do
        words = " ".join(str(error).split())[-300:] or type(error).__name__
        return {"started": started, "status": "failed", "message": words}, _NO_MACHINE, []


def _line(number: int, total: int, one: Configuration, repeat: int, row: dict[str, Any]) -> str:
    text = (
        f"{number}/{total}  {one.model}  {one.samples} samples, {one.workers} workers of "
        f"{one.cpus:g} CPUs, batch {one.batch}, repeat {repeat}: "
    )
    if row["status"] != "ok":
        return text + f"failed: {row['message']}"
    found = json.loads(row["details"])
    return text + f"epoch {found['epoch_s']:.3g} s, start-up {found['startup_s']:.3g} s"

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
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import Error
from ..graphs import graph
from ..measurements import import_measurements
from . import cluster, trainer
from .campaign import Campaign, Configuration, Run
from .progress import Progress
from .results import Folder


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


def _local_cpus(left: list[Run]) -> int:
    """Of a Ray that is started for this: as many as the largest job asks for."""
    return max(1, math.ceil(max(one.workers * one.cpus for one, _ in left)))


def _check_room(ray: Any, left: list[Run]) -> None:
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


def _moment(seconds: float | None = None) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


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

    def wait_for_quiet(self) -> None:
        end = time.monotonic() + self.options.patience_s
        limit = self.options.quiet_cores
        while limit is not None and trainer.busy_cores() > limit and time.monotonic() < end:
            pass

    def start(self, runs: list[Run]) -> tuple[list[Found], str]:
        """What the first of `runs` gave, and of the one after these why it gave nothing."""
        self.wait_for_quiet()
        self._ray.get(self._results.take.remote())  # of a start that failed
        began, error = time.time(), ""
        try:
            self._trainer(runs).fit()
        except Exception as raised:  # of Ray, of Ray Train, of the worker: the next start may do
            error = " ".join(str(raised).split())[-300:] or type(raised).__name__
        whole_s = time.time() - began
        found: list[Found] = []
        for (one, _), seen in zip(runs, self._ray.get(self._results.take.remote()), strict=False):
            if len(seen) != one.workers:
                error = error or f"{len(seen)} of {one.workers} workers told what they saw"
                break
            found.append(_found(one, seen, self.campaign.most_stolen))
            if len(found) == 1:  # which alone waited for its workers
                found[0].details |= started(seen, began)
            if len(runs) == 1:
                found[0].details["whole_s"] = _round(whole_s)
        if len(found) < len(runs):
            error = error or "the workers told nothing of it"
        return found, error

    def _trainer(self, runs: list[Run]) -> Any:
        workers, cpus, placement = runs[0][0].shape()
        start = {
            "graphs": {one.model: self._graphs[one.model] for one, _ in runs},
            "sources": self._sources,
            "results": self._results,
            "limit": self.campaign.limit,
            "cpus": cpus,
            "steady": {"tries": self.campaign.tries, "most_stolen": self.campaign.most_stolen},
            "jobs": [
                {
                    "model": one.model,
                    "samples": one.samples,
                    "batch": one.batch,
                    "epochs": one.epochs,
                    "optimizer": one.optimizer,
                    "seed": 1000 * repeat,
                }
                for one, repeat in runs
            ],
        }
        return self._torch.TorchTrainer(
            trainer.train,
            train_loop_config=start,
            torch_config=self._torch.TorchConfig(backend="gloo"),
            scaling_config=self._train.ScalingConfig(
                num_workers=workers,
                use_gpu=False,
                resources_per_worker={"CPU": cpus},
                placement_strategy=placement,
            ),
            run_config=self._train.RunConfig(
                storage_path=self.options.storage or self._folder.name,
            ),
        )


@dataclass
class Found:
    """What a run gave."""

    row: dict[str, Any]  # of the store's runs
    details: dict[str, Any]
    machine: dict[str, Any]
    steps_s: list[float]


def _found(one: Configuration, seen: list[dict[str, Any]], most_stolen: float | None) -> Found:
    nodes = len({worker["node"] for worker in seen})
    steps_s = seen[0]["steps_s"]
    stolen = seen[0]["stolen_s"] / sum(seen[0]["epochs_s"])
    good = most_stolen is None or stolen <= most_stolen
    row = {
        "started": _moment(seen[0]["began"]),
        "status": "ok" if good else "disturbed",
        "message": None if good else f"the machine's host took {stolen:.2g} cores away",
        "steps": len(steps_s),
        "step_mean_s": statistics.fmean(steps_s),
        "step_median_s": statistics.median(steps_s),
        "step_sd_s": statistics.pstdev(steps_s),
        "exposed_sync_s": _mean([w["exposed_s"] for w in seen if w["exposed_s"] is not None]),
        "request": one.request(math.ceil(one.workers / nodes)),
    }
    return Found(row, told(seen, nodes), machine_of(seen[0]["machine"]), steps_s)


def started(seen: list[dict[str, Any]], began: float) -> dict[str, Any]:
    """What came before the first job of a start."""
    return {
        "startup_s": _round(max(w["began"] for w in seen) - began),
        "cpu_startup_s": _round(sum(w["cpu_before_s"] for w in seen)),
    }


def told(seen: list[dict[str, Any]], nodes: int) -> dict[str, Any]:
    """What a run's workers saw, as the numbers of the run; the slowest worker ends a step."""
    epochs_s = [max(times) for times in zip(*(w["epochs_s"] for w in seen), strict=True)]
    steps_s = [max(times) for times in zip(*(w["steps_s"] for w in seen), strict=True)]
    several = nodes > 1  # on one node nothing leaves it
    return {
        "epoch_s": _round(statistics.median(steps_s) * len(steps_s) / len(epochs_s)),
        "epochs_s": [_round(value) for value in epochs_s],
        "train_s": _round(sum(epochs_s)),
        "cpu_s": _round(sum(w["cpu_s"] for w in seen)),
        "memory_bytes": max(w["memory_bytes"] for w in seen),
        "sent_bytes": sum(w["sent_bytes"] for w in seen) if several else None,
        "received_bytes": sum(w["received_bytes"] for w in seen) if several else None,
        "nodes": nodes,
        "parameters": seen[0]["parameters"],
        "load_before": seen[0]["load_before"],
        "stolen_s": _round(seen[0]["stolen_s"]),
        "tries": seen[0]["tries"],
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


def _measure_all(bench: _Bench, left: list[Run], folder: Folder, summary: Summary) -> None:
    campaign, total, waiting, failures = bench.campaign, len(left), list(left), Counter[Run]()
    with Progress("runs", total) as progress:

        def keep(run: Run, found: Found) -> None:
            one, repeat = run
            named = {"campaign": campaign.name, "configuration": one.key(), "repeat": repeat}
            named |= {"setting": f"ray{one.workers}"}
            if found.details:
                named["details"] = json.dumps(found.details, separators=(",", ":"))
            folder.add(found.row | named, found.machine, found.steps_s)
            if not sys.stderr.isatty():
                bench.options.say(_line(total - len(waiting), total, run, found))

        while waiting:
            progress.show(total - len(waiting))
            runs = campaign.next_start(waiting)
            good, error = bench.start(runs)
            for run, found in zip(runs, good, strict=False):
                waiting.remove(run)
                summary.measured += found.row["status"] == "ok"
                summary.missing += found.row["status"] != "ok"
                keep(run, found)
            if len(good) == len(runs):
                continue
            bad = runs[len(good)]  # those after it only wait for another start
            failures[bad] += 1
            if failures[bad] == campaign.attempts:
                waiting.remove(bad)
                summary.missing += 1
            row = {"started": _moment(), "status": "failed", "message": error}
            keep(bad, Found(row, {}, _NO_MACHINE, []))


def _line(number: int, total: int, run: Run, found: Found) -> str:
    one, repeat = run
    text = (
        f"{number}/{total}  {one.model}  {one.samples} samples, {one.workers} workers of "
        f"{one.cpus:g} CPUs, batch {one.batch}, repeat {repeat}: "
    )
    if found.row["status"] != "ok":
        return text + f"{found.row['status']}: {found.row['message']}"
    start = found.details.get("startup_s")
    return text + f"epoch {found.details['epoch_s']:.3g} s" + (
        f", start-up {start:.3g} s" if start is not None else ""
    )

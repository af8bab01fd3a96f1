# SPDX-License-Identifier: Apache-2.0
"""What a profile of training on Ray consists of."""

from __future__ import annotations

import difflib
import itertools
import json
import pathlib
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import Error

FORMAT = "foretrain-ray-campaign"
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")
PLACEMENTS = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")  # Ray's words
_LISTS = {"models": str, "samples": int, "workers": int, "cpus": float, "batches": int}
_TEXTS = ("format", "version", "name", "about", "jobs")


@dataclass(frozen=True)
class Configuration:
    """One job; together with a campaign's name and a repeat it names a run."""

    model: str
    samples: int  # of the data set, in all
    workers: int
    cpus: float  # of each worker
    batch: int  # of each worker
    epochs: int
    optimizer: str
    placement: str
    network: str  # what a prediction is told of the links

    def shape(self) -> tuple[int, float, str]:
        """Jobs alike in this can share their workers."""
        return self.workers, self.cpus, self.placement

    def key(self) -> str:
        """Canonical JSON, as the store has it: sorted, no spaces, whole numbers whole."""
        return canonical({"kind": "ray", **asdict(self)})

    def request(self, workers_per_node: int) -> str:
        """What `foretrain predict` is asked for it."""
        return canonical(
            {
                "model": self.model,
                "device": f"cpu:cores={_whole(self.cpus)}",
                "workers": self.workers,
                "workers_per_node": workers_per_node,
                "batch": self.batch,
                "optimizer": self.optimizer,
                "strategy": {"kind": "ddp"},
                "network": self.network,
                "samples": self.samples,
                "epochs": self.epochs,
            }
        )


Run = tuple[Configuration, int]  # and which repeat


@dataclass(frozen=True)
class Campaign:
    name: str
    configurations: list[Configuration]
    repeats: int = 1
    definition: str = "{}"
    limit: bool = False  # hold each worker to its CPUs by a control group
    attempts: int = 2
    per_start: int = 1  # jobs that one start of Ray Train runs in a row
    # A virtual machine's host may take cores away: a run that lost more of them is tried again at
    # once, `tries` times in all, and is then no good one.
    most_stolen: float | None = None
    tries: int = 1
    notes: list[str] = field(default_factory=list)

    def runs(self) -> list[Run]:
        """All first repeats before the second ones."""
        return [(one, n) for n in range(self.repeats) for one in self.configurations]

    def next_start(self, left: list[Run]) -> list[Run]:
        """The first of `left` and those that the same workers can run after it."""
        shape = left[0][0].shape()
        return [run for run in left if run[0].shape() == shape][: self.per_start]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def canonical(value: dict[str, Any]) -> str:
    plain = {key: _whole(entry) for key, entry in value.items()}
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def read_campaign(path: pathlib.Path) -> Campaign:
    """Raises Error naming file and field."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror}", "Io") from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise Error(f"file '{path}': {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise Error(f"file '{path}': 'format' is not \"{FORMAT}\"")
    if content.get("version") != 1:
        raise Error(f"file '{path}': only version 1 is known")
    return make_campaign(content, f"file '{path}'")


def make_campaign(content: dict[str, Any], where: str) -> Campaign:
    """From a campaign's fields; those of a job go before the campaign's own."""
    shared = {key: value for key, value in content.items() if key not in _TEXTS}
    own = {key: shared.pop(key, default) for key, default in _CAMPAIGN.items()}
    jobs = content.get("jobs", [{}])
    if not isinstance(jobs, list) or not jobs or not all(isinstance(j, dict) for j in jobs):
        raise Error(f"{where}: 'jobs' is no list of objects")
    configurations: list[Configuration] = []
    for number, job in enumerate(jobs):
        configurations += _configurations(shared | job, f"{where}: job {number}")
    name = content.get("name")
    if not isinstance(name, str) or not name:
        raise Error(f"{where}: 'name' is missing")
    for what in ("repeats", "attempts", "per_start", "tries"):
        _check_whole(own[what], f"{where}: '{what}'")
    if not isinstance(own["limit_cpus"], bool):
        raise Error(f"{where}: 'limit_cpus' is neither true nor false")
    stolen = own["most_stolen"]
    if stolen is not None and not (isinstance(stolen, int | float) and 0 <= stolen <= 1024):
        raise Error(f"{where}: 'most_stolen' is no number of cores")
    definition = json.dumps(content, ensure_ascii=False)
    unique = list(dict.fromkeys(configurations))
    own["limit"] = own.pop("limit_cpus")
    return Campaign(name, unique, definition=definition, **own)


_CAMPAIGN: dict[str, Any] = {
    "repeats": 1,
    "limit_cpus": False,
    "attempts": 2,
    "per_start": 1,
    "tries": 1,
    "most_stolen": None,
}
_SINGLE: dict[str, Any] = {
    "epochs": 1,
    "optimizer": "momentum",
    "placement": "SPREAD",
    "network": "5gbps",
}


def _check_whole(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Error(f"{where} is no whole number from 1 on")


def _configurations(job: dict[str, Any], where: str) -> list[Configuration]:
    known = [*_LISTS, *_SINGLE]
    for key in job:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise Error(f"{where}: unknown field '{key}'" + (f"; {near[0]}?" if near else ""))
    lists = [_entries(job, key, kind, where) for key, kind in _LISTS.items()]
    single = {key: job.get(key, default) for key, default in _SINGLE.items()}
    _check_whole(single["epochs"], f"{where}: 'epochs'")
    for key, words in (("optimizer", OPTIMIZERS), ("placement", PLACEMENTS)):
        if single[key] not in words:
            raise Error(f"{where}: '{key}' is one of {', '.join(words)}, not '{single[key]}'")
    made = []
    for model, samples, workers, cpus, batch in itertools.product(*lists):
        if samples < workers * batch:
            raise Error(
                f"{where}: {samples} samples are less than one batch of {batch} for each of "
                f"{workers} workers"
            )
        made.append(Configuration(model, samples, workers, cpus, batch, **single))
    return made


def _entries(job: dict[str, Any], key: str, kind: type, where: str) -> list[Any]:
    entries = job.get(key)
    if not isinstance(entries, list) or not entries:
        raise Error(f"{where}: '{key}' is missing or no list")
    for entry in entries:
        number = isinstance(entry, int | float) and not isinstance(entry, bool)
        if kind is int:
            _check_whole(entry, f"{where}: {entry!r} in '{key}'")
        elif kind is float and not (number and 0 < entry <= 1024):
            raise Error(f"{where}: {entry!r} in '{key}' is no number of CPUs")
        elif kind is str and not isinstance(entry, str):
            raise Error(f"{where}: {entry!r} in '{key}' is no name")
    return [float(entry) if kind is float else entry for entry in entries]

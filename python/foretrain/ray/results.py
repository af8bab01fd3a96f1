# SPDX-License-Identifier: Apache-2.0
"""What was measured on Ray, as files: a folder that `foretrain store import` takes, and a table.

Every file is written anew and renamed when it is whole, so that an interruption loses one run.
"""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
from typing import Any

from ..errors import Error
from .campaign import Campaign

RUN_COLUMNS = [
    "id",
    "campaign",
    "machine",
    "configuration",
    "setting",
    "split",
    "repeat",
    "started",
    "status",
    "message",
    "calibration_before_s",
    "calibration_after_s",
    "foreign_load",
    "wall_s",
    "steps",
    "step_mean_s",
    "step_median_s",
    "step_sd_s",
    "exposed_sync_s",
    "details",
    "request",
]
MACHINE_COLUMNS = ["id", "cpu", "cores", "memory_bytes", "kernel", "system", "pytorch", "details"]
CAMPAIGN_COLUMNS = ["name", "created", "definition"]
TABLE_COLUMNS = [
    "model",
    "samples",
    "workers",
    "nodes",
    "cpus",
    "batch",
    "epochs",
    "optimizer",
    "repeat",
    "epoch_s",
    "train_s",
    "startup_s",
    "whole_s",
    "step_s",
    "cpu_s",
    "memory_bytes",
    "sent_bytes",
    "received_bytes",
    "load_before",
    "stolen_s",
    "tries",
    "status",
]


class Folder:
    """The runs of a campaign so far."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.runs = _read(path / "runs.csv", RUN_COLUMNS)
        self._machines = _read(path / "machines.csv", MACHINE_COLUMNS)
        self._campaigns = _read(path / "campaigns.csv", CAMPAIGN_COLUMNS)
        self._steps = _read(path / "steps.csv", ["run", "times_s"])
        self._done = {
            (run["campaign"], run["configuration"], run["repeat"])
            for run in self.runs
            if run["status"] == "ok"
        }

    def has(self, campaign: str, configuration: str, repeat: int) -> bool:
        return (campaign, configuration, str(repeat)) in self._done

    def introduce(self, campaign: Campaign, created: str) -> None:
        known = {row["name"]: row for row in self._campaigns}
        created = known.get(campaign.name, {}).get("created", created)
        known[campaign.name] = {
            "name": campaign.name,
            "created": created,
            "definition": campaign.definition,
        }
        self._campaigns = list(known.values())

    def add(self, run: dict[str, Any], machine: dict[str, Any], steps_s: list[float]) -> None:
        number = 1 + max((int(row["id"]) for row in self.runs), default=0)
        named = {"id": str(number), "machine": machine["id"]}
        row = {name: _text(run.get(name)) for name in RUN_COLUMNS} | named
        machines = {one["id"]: one for one in self._machines}
        machines[machine["id"]] = {name: _text(machine.get(name)) for name in MACHINE_COLUMNS}
        self._machines = list(machines.values())
        self.runs.append(row)
        if row["status"] == "ok":
            self._done.add((row["campaign"], row["configuration"], row["repeat"]))
            times = " ".join(f"{value:.6g}" for value in steps_s)
            self._steps.append({"run": str(number), "times_s": times})
        self._write()

    def _write(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        _save(self.path / "machines.csv", MACHINE_COLUMNS, self._machines)
        _save(self.path / "campaigns.csv", CAMPAIGN_COLUMNS, self._campaigns)
        _save(self.path / "steps.csv", ["run", "times_s"], self._steps)
        _save(self.path / "runs.csv", RUN_COLUMNS, self.runs)
        _save(self.path / "ray.csv", TABLE_COLUMNS, [table_row(run) for run in self.runs])


def table_row(run: dict[str, str]) -> dict[str, str]:
    """A run as one flat line, what `fit scaling --columns` reads."""
    values = json.loads(run["configuration"]) | json.loads(run["details"] or "{}")
    values |= {"repeat": run["repeat"], "status": run["status"], "step_s": run["step_median_s"]}
    return {name: _text(values.get(name)) for name in TABLE_COLUMNS}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else _plain(value)


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) else str(value)


def _read(path: pathlib.Path, columns: list[str]) -> list[dict[str, str]]:
    if not path.exists():
        return []
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if list(row) != columns or None in row.values():
            raise Error(f"file '{path}': its columns are not those of a profile on Ray")
    return rows


def _save(path: pathlib.Path, columns: list[str], rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise Error(f"cannot write '{path}': {error.strerror}", "Io") from error

# SPDX-License-Identifier: Apache-2.0
"""Stages of predictions, as the program dumps them."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

import foretrain


def program() -> str:
    built = pathlib.Path(__file__).parents[2] / "build/release/foretrain"
    return os.environ.get("FORETRAIN_PROGRAM", str(built))


def _said(*words: str) -> Any:
    done = subprocess.run([program(), *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def dumped(graph: foretrain.Graph, folder: pathlib.Path, stage: str, *options: str) -> Any:
    """A stage of the prediction of a step of 4 samples."""
    path = folder / "model.ftg.json"
    graph.save(path)
    job = ["predict", str(path), "--device", "a100", "--batch", "4", *options]
    return _said(*job, "--dump", stage)


def collectives(tasks: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    """Kind, bytes that a rank gives and bytes that it takes, in the order of the step."""
    return [
        (task["name"], task["input_bytes"], task["output_bytes"])
        for task in tasks
        if task["kind"] == "communication"
    ]


def most_bytes(storages: list[dict[str, Any]], part: str, node: str) -> int:
    """The most bytes at once of what nodes of that name wrote."""
    changes: list[tuple[float, int]] = []
    for storage in storages:
        first, last = storage["first"], storage["last"]
        if storage["part"] == part and first is not None and first["name"] == node:
            end = float("inf") if last is None else last["node"] + 0.5
            changes += [(first["node"], storage["bytes"]), (end, -storage["bytes"])]
    live = most = 0
    for _, change in sorted(changes):
        live += change
        most = max(most, live)
    return most

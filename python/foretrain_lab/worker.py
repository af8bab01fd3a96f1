# SPDX-License-Identifier: Apache-2.0
"""The loop of a worker: a job per line of standard input, a result per line of standard output."""

from __future__ import annotations

import json
import os
import pathlib
import platform
import sys
import traceback
from typing import Any, TextIO

import torch

from . import activity


def answer(job: dict[str, Any]) -> dict[str, Any]:
    kind = job["kind"]
    if kind == "hello":
        return _hello(job)
    if kind == "train":
        from .train import serve, train

        return serve(job) if job["role"] == "server" else train(job)
    if kind == "list_operators":
        from .time_operators import of_graph

        return {"operators": of_graph(job["graph"], job["batch"])}
    if kind == "operators":
        from .time_operators import time_operators

        return time_operators(job)
    if kind == "collectives":
        from .time_collectives import time_collectives

        return time_collectives(job)
    raise ValueError(f"unknown kind of job '{kind}'")


def _hello(job: dict[str, Any]) -> dict[str, Any]:
    trouble = ""
    try:
        activity.load(job["activity_source"])
    except OSError as error:
        trouble = str(error)
    return {
        "pytorch": torch.__version__,
        "machine": machine(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "",
        "activity_trouble": trouble,
    }


def machine() -> dict[str, Any]:
    """The host that this is: runs on remote hosts are stored under it. `name` names it alone."""
    name = _first(pathlib.Path("/etc/machine-id"), "") or platform.node()
    cpu = _first(pathlib.Path("/proc/cpuinfo"), "model name").partition(":")[2]
    system = _first(pathlib.Path("/etc/os-release"), "PRETTY_NAME").partition("=")[2]
    return {
        "name": name,
        "cpu": cpu.lstrip(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": platform.release(),
        "system": system.replace('"', ""),
    }


def _first(file: pathlib.Path, beginning: str) -> str:
    """The first line that begins so; "" where there is none."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(beginning)), "")


def main() -> None:
    jobs = sys.stdin
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no result
    for line in jobs:
        job = json.loads(line)
        _run(job, results)
        if job.get("whole"):
            break
    results.flush()
    os._exit(0)  # without waiting for threads of libraries


def _run(job: dict[str, Any], results: TextIO) -> None:
    try:
        torch.set_num_threads(job.get("threads", 1))
        result = answer(job)
        result["ok"] = True
    except BaseException as error:  # a job that fails must not end the campaign
        traceback.print_exc()
        result = {"ok": False, "error": f"{type(error).__name__}: {error}".replace("\n", " ")}
    result["job"] = job["job"]
    results.write(json.dumps(result) + "\n")

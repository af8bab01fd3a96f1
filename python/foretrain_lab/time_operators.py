# SPDX-License-Identifier: Apache-2.0
"""Times single operators, forward and backward, on this machine."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from . import operators
from .interpreter import FtgModule

_VIEWS = {"reshape", "transpose", "slice", "split", "expand", "identity"}


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def of_graph(graph: dict[str, Any], batch: int) -> list[dict[str, Any]]:
    """What a model's forward pass runs: each operator with its shapes and attributes once."""
    seen: dict[str, dict[str, Any]] = {}
    for entry in FtgModule(graph, batch).node_shapes():
        if entry["op"] not in _VIEWS:
            seen.setdefault(json.dumps(entry, sort_keys=True), entry)
    return list(seen.values())


def make_inputs(entry: dict[str, Any]) -> list[Tensor]:
    """Data that an operator of these shapes can run on."""
    inputs = []
    for place, (shape, kind) in enumerate(zip(entry["shapes"], entry["types"], strict=True)):
        dtype = operators.dtype(kind)
        if dtype.is_floating_point:
            value = torch.rand(shape, dtype=dtype, device=_device()) + 0.1
            inputs.append(value.requires_grad_(not _is_statistic(entry["op"], place)))
        elif dtype == torch.bool:
            inputs.append(torch.ones(shape, dtype=dtype, device=_device()))
        else:
            limit = _limit(entry, place)
            inputs.append(torch.randint(limit, shape, dtype=dtype, device=_device()))
    return inputs


def _is_statistic(op: str, place: int) -> bool:
    return op == "batch_norm" and place >= 3


def _limit(entry: dict[str, Any], place: int) -> int:
    shapes = entry["shapes"]
    if entry["op"] == "embedding" and place == 0:
        return int(shapes[1][0])
    if entry["op"] == "cross_entropy" and place == 1:
        return int(shapes[0][1 if len(shapes[0]) > 1 else 0])
    if entry["op"] == "gather" and place == 1:
        return int(min(shapes[0]))
    return 2


def clock(run: Callable[[], Any], least_s: float, least: int) -> list[float]:
    """Times of single runs: after two to warm up at least `least`, over at least `least_s`."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else (lambda: None)
    times: list[float] = []
    for _ in range(2):
        run()
    wait()
    begin = time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < least_s:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
        if len(times) >= 100_000:
            break
    return times


def _row(entry: dict[str, Any], direction: str, times: list[float]) -> dict[str, Any]:
    return {
        "kind": entry["op"],
        "shapes": ";".join("x".join(str(n) for n in shape) or "1" for shape in entry["shapes"]),
        "attributes": _canonical(entry.get("attributes", {})),
        "dtype": next((t for t in entry["types"] if t[0] in "fb"), entry["types"][0]),
        "direction": direction,
        "time_s": statistics.median(times),
        "spread_s": statistics.stdev(times) if len(times) > 1 else 0.0,
        "repeats": len(times),
    }


def time_one(entry: dict[str, Any], least_s: float, least: int) -> list[dict[str, Any]]:
    """Rows for the forward and, where gradients flow, the backward pass."""
    # In-place forms would change what the next run reads.
    attributes = {k: v for k, v in entry.get("attributes", {}).items() if k != "inplace"}
    run = operators.build(entry, attributes)
    inputs = make_inputs(entry)
    rows = [_row(entry, "forward", clock(lambda: run(*inputs), least_s, least))]
    result = run(*inputs)
    outputs = list(result if isinstance(result, tuple | list) else [result])
    outputs = [t for t in outputs if t.requires_grad]
    wanted = [t for t in inputs if t.requires_grad]
    if outputs and wanted:
        ones = [torch.ones_like(t) for t in outputs]

        def backward() -> None:
            torch.autograd.grad(outputs, wanted, ones, retain_graph=True, allow_unused=True)

        rows.append(_row(entry, "backward", clock(backward, least_s, least)))
    return rows


def time_operators(job: dict[str, Any]) -> dict[str, Any]:
    rows, skipped = [], []
    for entry in job["operators"]:
        size = sum(math.prod(shape) for shape in entry["shapes"])
        if size > job["most_elements"]:
            skipped.append(f"{entry['op']}: {size} elements are too many")
            continue
        try:
            rows += time_one(entry, job["seconds"], job["repeats"])
        except Exception as error:  # an odd shape must not end the rest
            skipped.append(f"{entry['op']}: {error}".split("\n")[0])
    return {"rows": rows, "skipped": skipped}

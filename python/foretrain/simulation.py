# SPDX-License-Identifier: Apache-2.0
"""Job traces on clusters."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from . import _core
from .prediction import json_text

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SimulationOptions(TypedDict, total=False):
    """The keyword arguments of ``simulate``; docs/simulator.md says what they mean."""

    placement: str
    limits_s: list[float]
    round_s: float
    drop_unfit: bool
    durations: str
    predictions: str
    prediction_error: float
    draw_durations: bool
    restart_cost_s: float
    checkpoint_interval_s: float
    mtbf_s: float
    repair_s: float
    seed: int
    sweep: list[str]
    seeds: int
    threads: int
    per_job: bool
    chart: bool


def simulate(
    trace: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    cluster: str | os.PathLike[str] | Mapping[str, Any],
    policy: str = "fifo",
    **options: Unpack[SimulationOptions],
) -> dict[str, Any]:
    """Runs the jobs of a trace through a cluster; what ``foretrain simulate --json`` prints.

    ``trace`` is a file, the text of one (which has a line break), ``generate:jobs=1000,load=0.9``,
    or the jobs as dictionaries. ``cluster`` is a file, ``"8x4"``, or what a cluster file holds.
    With ``per_job=True`` the result has a list for each column of ``--jobs`` under ``per_job``,
    with ``chart=True`` what a chart shows under ``chart``.

    >>> simulate("generate:jobs=1000", "8x4", "srtf")["jct_s"]["mean"]
    """
    request: dict[str, Any] = {k: v for k, v in options.items() if v is not None}
    request |= {"cluster": cluster, "policy": policy}
    if isinstance(trace, os.PathLike):
        request["trace"] = trace
    elif not isinstance(trace, str):
        request["trace_text"] = "".join(json_text(job, "a job") + "\n" for job in trace)
    else:
        request["trace_text" if "\n" in trace else "trace"] = trace
    return json.loads(_core.simulate_json(json_text(request, "the simulation")))

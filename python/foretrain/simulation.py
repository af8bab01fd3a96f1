# SPDX-License-Identifier: Apache-2.0
"""Job traces on clusters."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from . import _core
from .errors import Error
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


class Simulation(dict[str, Any]):
    """What a simulation gave, as ``foretrain simulate --json`` prints it."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._svg: str | None = fields.pop("svg", None)
        super().__init__(fields)

    def svg(self) -> str:
        """Utilisation, queue and a Gantt chart as an SVG; of a simulation with ``chart=True``."""
        if self._svg is None:
            raise Error("the simulation was made without a chart; give chart=True", "BadInput")
        return self._svg

    def _repr_svg_(self) -> str | None:
        return self._svg


def simulate(
    trace: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    cluster: str | os.PathLike[str] | Mapping[str, Any],
    policy: str = "fifo",
    **options: Unpack[SimulationOptions],
) -> Simulation:
    """Runs the jobs of a trace through a cluster; what ``foretrain simulate --json`` prints.

    ``trace`` is a file, the text of one (which has a line break), ``generate:jobs=1000,load=0.9``,
    or the jobs as dictionaries. ``cluster`` is a file, ``"8x4"``, or what a cluster file holds.
    With ``per_job=True`` the result has a list for each column of ``--jobs`` under ``per_job``,
    with ``chart=True`` what a chart shows under ``chart``, and its picture as ``svg()``.

    >>> simulate("generate:jobs=1000", "8x4", "srtf")["jct_s"]["mean"]
    """
    request: dict[str, Any] = {k: v for k, v in options.items() if v is not None}
    request |= {"cluster": cluster, "policy": policy, "svg": bool(request.get("chart", False))}
    if isinstance(trace, os.PathLike):
        request["trace"] = trace
    elif not isinstance(trace, str):
        request["trace_text"] = "".join(json_text(job, "a job") + "\n" for job in trace)
    else:
        request["trace_text" if "\n" in trace else "trace"] = trace
    return Simulation(json.loads(_core.simulate_json(json_text(request, "the simulation"))))

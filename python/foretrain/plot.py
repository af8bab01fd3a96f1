# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report; the only place that needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import humanise
from .errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .report import Report

_MEMORY = (
    "parameters",
    "gradients",
    "optimizer",
    "activations",
    "workspace",
    "fragmentation",
    "framework",
)
_LONGEST_NAME = 40


def plot_report(report: Report) -> Figure:
    """Bars for the parts of the step, of the memory, and for the slowest operators."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise Error("plot() needs matplotlib: pip install matplotlib", "Unsupported") from error
    figure, (time, memory, operators) = pyplot.subplots(1, 3, figsize=(14, 4), layout="constrained")
    _bars(
        time,
        {name.replace("_", " "): v * 1e3 for name, v in report.breakdown_s.to_dict().items()},
        "ms",
        f"{humanise.seconds(report.step_time_s.value)} per step",
    )
    fields = report.memory_bytes.to_dict()
    _bars(
        memory,
        {name: fields[name] / 1e9 for name in _MEMORY if name in fields},
        "GB",
        f"{humanise.size(report.memory_bytes.peak)} of "
        f"{humanise.size(report.memory_bytes.capacity)}",
    )
    slowest = {
        f"{i + 1}. {op.name[-_LONGEST_NAME:]} ({op.kind})": op.time_s * 1e3
        for i, op in enumerate(report.top_operators)
    }
    _bars(operators, slowest, "ms", "slowest operators")
    return figure


def _bars(axes: Axes, values: dict[str, float], unit: str, title: str) -> None:
    names = list(values)
    axes.barh(range(len(names)), list(values.values()))
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title)

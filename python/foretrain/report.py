# SPDX-License-Identifier: Apache-2.0
"""What a prediction says."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from . import humanise
from .record import Record
from .tables import html_list, html_table, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Estimate(Record):
    """A predicted number; the ends of its interval are None until they are calibrated."""

    value: float
    low: float | None
    high: float | None
    confidence: float | None


class Throughput(Record):
    """Samples and tokens per second over all workers; share of the peak that GEMMs use."""

    samples_per_s: float
    tokens_per_s: float | None
    tokens_per_s_per_device: float | None
    mfu: float | None


class Breakdown(Record):
    """Where a step's time goes, in seconds; the parts add up to the step."""

    compute: float
    memory: float
    exposed_communication: float
    host: float
    bubble: float
    input: float


class Memory(Record):
    """Bytes on the fullest device; ``peak`` is what must fit into ``capacity``.

    ``low`` and ``high`` hold the measured peak with the confidence of step times; they and
    ``fit_probability`` are None where nothing was measured."""

    peak: float
    low: float | None
    high: float | None
    fit_probability: float | None
    allocated: float
    parameters: float
    gradients: float
    optimizer: float
    activations: float
    workspace: float
    fragmentation: float
    framework: float
    capacity: float
    fits: bool


class Bursts(Record):
    """A resource's use over time: its bursts and idles."""

    pattern: str
    burst_amount: float | None
    idle_amount: float | None
    burst_s: float | None
    idle_s: float | None
    unit: str


class Role(Record):
    """The resources of one worker or parameter server; None where nothing can be said."""

    gpu_util: Bursts | None
    gpu_memory_util: Bursts | None
    net_tx: Bursts | None
    net_rx: Bursts | None
    memory_used: Bursts | None
    _parts: ClassVar[dict[str, type[Record]]] = {
        "gpu_util": Bursts,
        "gpu_memory_util": Bursts,
        "net_tx": Bursts,
        "net_rx": Bursts,
        "memory_used": Bursts,
    }


class Resources(Record):
    """Bursts and idles, seen through windows of ``window_s`` seconds."""

    window_s: float
    worker: Role
    server: Role | None
    _parts: ClassVar[dict[str, type[Record]]] = {"worker": Role, "server": Role}


class Operator(Record):
    """One of the slowest operators; ``share`` is of the step."""

    name: str
    kind: str
    time_s: float
    share: float


class Cost(Record):
    """Money for the whole job."""

    value: float
    low: float | None
    high: float | None
    currency: str


class JobParts(Record):
    """Where the total time goes, in seconds; the parts add up to it."""

    training: float
    evaluation: float
    checkpoints: float
    lost_work: float
    restarts: float
    startup: float


class Phases(Record):
    """The step by phase, communication and waiting where they fall."""

    forward: float
    backward: float
    update: float


class Report(Record):
    """What a prediction says: time, memory, resource use and cost of one job.

    The fields are those of the JSON report, so ``report.step_time_s.value`` is the time of a
    step in seconds and ``report.memory_bytes.peak`` the memory that a device must have.
    """

    step_time_s: Estimate
    throughput: Throughput
    epoch_time_s: Estimate | None
    total_time_s: Estimate | None
    total_breakdown_s: JobParts | None
    breakdown_s: Breakdown
    phases_s: Phases
    communication_s: float
    memory_bytes: Memory
    resources: Resources
    cost: Cost | None
    top_operators: list[Operator]
    engine: str
    assumptions: list[str]
    warnings: list[str]
    _parts: ClassVar[dict[str, type[Record]]] = {
        "step_time_s": Estimate,
        "throughput": Throughput,
        "epoch_time_s": Estimate,
        "total_time_s": Estimate,
        "total_breakdown_s": JobParts,
        "breakdown_s": Breakdown,
        "phases_s": Phases,
        "memory_bytes": Memory,
        "resources": Resources,
        "cost": Cost,
        "top_operators": Operator,
    }

    def plot(self) -> Figure:
        """Draws time, memory and the slowest operators; needs matplotlib."""
        from .plot import plot_report

        return plot_report(self)

    def __repr__(self) -> str:
        lines = [f"Prediction: {_interval(self.step_time_s)} per step"]
        lines.append(text_table(_rows(self), indent="  "))
        lines += [f"  warning: {warning}" for warning in self.warnings]
        lines += [f"  assumed: {assumption}" for assumption in self.assumptions]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        operators = [
            (op.name, op.kind, humanise.seconds(op.time_s), humanise.percent(op.share))
            for op in self.top_operators
        ]
        return (
            html_table(_rows(self), caption=f"{_interval(self.step_time_s)} per step")
            + html_table(operators, ("operator", "kind", "time", "share"), "slowest operators")
            + html_list("Warnings", self.warnings)
            + html_list("Assumptions", self.assumptions)
        )


def _interval(estimate: Estimate) -> str:
    text = humanise.seconds(estimate.value)
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({humanise.seconds(estimate.low)} to {humanise.seconds(estimate.high)})"


def _rows(report: Report) -> list[tuple[str, str]]:
    throughput, memory = report.throughput, report.memory_bytes
    rate = f"{humanise.number(throughput.samples_per_s)} samples/s"
    if throughput.tokens_per_s is not None:
        rate += f", {humanise.number(throughput.tokens_per_s)} tokens/s"
    if throughput.mfu is not None:
        rate += f", MFU {humanise.percent(throughput.mfu)}"
    rows = [("throughput", rate)]
    for name, estimate in (("epoch", report.epoch_time_s), ("total", report.total_time_s)):
        if estimate is not None:
            rows.append((name, _interval(estimate)))
    parts = sorted(report.breakdown_s.to_dict().items(), key=lambda part: -part[1])
    rows.append(
        (
            "time goes to",
            ", ".join(
                f"{name.replace('_', ' ')} {humanise.percent(value / report.step_time_s.value)}"
                for name, value in parts
                if value > 0
            ),
        )
    )
    fits = "fits" if memory.fits else "does not fit"
    if (sure := memory.fit_probability) is not None:
        fits += f" ({100 * (sure if memory.fits else 1 - sure):.2g} %)"
    peak = f"{humanise.size(memory.peak)} of {humanise.size(memory.capacity)}, {fits}"
    rows.append(("memory", peak))
    if report.cost is not None:
        rows.append(("cost", f"{report.cost.value:,.2f} {report.cost.currency}"))
    rows.append(("engine", report.engine))
    return rows

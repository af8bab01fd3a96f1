# SPDX-License-Identifier: Apache-2.0
"""What `foretrain store export` wrote of a campaign, and the arithmetic of its tables: patterns,
spreads and noise. Times are in seconds."""
import collections
import csv
import dataclasses
import itertools
import json
import pathlib
import statistics

QUIET_CORES = 0.1  # of others, as in a campaign's `foreign_cores`
METRICS = ("amount", "burst", "idle")  # while in bursts; how long bursts and idles last
COLUMNS = dict(zip(METRICS, ("burst_amount", "burst_s", "idle_s"), strict=True))
FAMILIES = {"gpt": "transformer", "llama": "transformer", "lstm-lm": "lstm", "mlp": "mlp"}


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that counts; `numbers` are those that were measured."""

    configuration: str
    setting: str
    split: str
    family: str
    quiet: bool
    numbers: dict[str, float]


@dataclasses.dataclass(frozen=True)
class Trace:
    """One resource of one process of a run; a metric is missing where the pattern has none."""

    run: Run
    role: str
    instance: str
    resource: str
    unit: str
    pattern: str
    metrics: dict[str, float]


@dataclasses.dataclass(frozen=True, eq=False)
class Campaign:
    runs: list[Run]
    traces: list[Trace]
    others: collections.Counter  # runs that do not count, by (setting, status)


def family_of(model: str) -> str:
    """"random:family=cnn,seed=7" is a cnn; so is every named model that is nothing else."""
    name, _, parameters = model.partition(":")
    if name == "random":
        return dict(p.split("=") for p in parameters.split(","))["family"]
    return FAMILIES.get(name, "cnn")


def rows(path: pathlib.Path) -> list[dict[str, str]]:
    csv.field_size_limit(1 << 20)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_run(row: dict[str, str]) -> Run:
    names = ("step_median_s", "exposed_sync_s", "wall_s", "step_mean_s", "steps", "foreign_load",
             "calibration_before_s", "calibration_after_s")  # fmt: skip
    numbers = {name: float(row[name]) for name in names if row[name]}
    numbers |= {k: v for k, v in json.loads(row["details"] or "{}").items() if isinstance(v, int | float)}
    model = json.loads(row["configuration"])["model"]
    quiet = numbers.get("foreign_load", QUIET_CORES + 1) <= QUIET_CORES
    return Run(row["configuration"], row["setting"], row["split"], family_of(model), quiet, numbers)


def load(folder: pathlib.Path) -> Campaign:
    runs, others = {}, collections.Counter()
    for row in rows(folder / "runs.csv"):
        if row["status"] == "ok":
            runs[row["id"]] = read_run(row)
        else:
            others[row["setting"], row["status"]] += 1
    traces = []
    for row in rows(folder / "metrics.csv"):
        metrics = {name: float(row[column]) for name, column in COLUMNS.items() if row[column]}
        traces.append(Trace(runs[row["run"]], row["role"], row["instance"], row["resource"], row["unit"],
                            row["pattern"], metrics))  # fmt: skip
    return Campaign(list(runs.values()), traces, others)


def base_setting(runs: list[Run]) -> str:
    """The one with the most configurations."""
    configurations = {(run.setting, run.configuration) for run in runs}
    return collections.Counter(setting for setting, _ in sorted(configurations)).most_common(1)[0][0]


def quantile(values: list[float], share: float) -> float:
    """Between the two nearest values, by their distance."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def patterns(traces: list[Trace]) -> dict[tuple[str, str], collections.Counter]:
    """How often each pattern is seen, by role and resource."""
    counts = collections.defaultdict(collections.Counter)
    for trace in traces:
        counts[trace.role, trace.resource][trace.pattern] += 1
    return counts


def means(values: list[tuple[tuple, str, float]]) -> dict[tuple, list[float]]:
    """From (group, configuration, value): the mean of each configuration, by group."""
    collected = collections.defaultdict(list)
    for group, configuration, value in values:
        collected[group, configuration].append(value)
    result = collections.defaultdict(list)
    for (group, _), of_one in collected.items():
        result[group].append(statistics.fmean(of_one))
    return dict(result)


def spreads(traces: list[Trace], group_of) -> dict[tuple, list[float]]:
    """Means of configurations, by (role, resource, group, metric)."""
    return means([
        ((trace.role, trace.resource, group_of(trace.run), metric), trace.run.configuration, value)
        for trace in traces for metric, value in trace.metrics.items()
    ])  # fmt: skip


def noise(values: list[float], chosen: int = 1) -> float | None:
    """How far the mean of `chosen` runs lies from the mean of the others: |a / b - 1|, the mean over
    all choices. None where there are too few runs."""
    if len(values) <= chosen:
        return None
    differences = []
    for some in itertools.combinations(range(len(values)), chosen):
        others = [value for i, value in enumerate(values) if i not in some]
        centre = statistics.fmean(others)
        if centre == 0:
            return None
        differences.append(abs(statistics.fmean(values[i] for i in some) / centre - 1))
    return statistics.fmean(differences)


def repeats(points: list[tuple[tuple, Run, float]]) -> dict[str, dict[tuple, list[float]]]:
    """From (series, run, value): the values of each series over all runs; over its quiet ones; and
    over all where some run was not quiet."""
    series = collections.defaultdict(list)
    for key, run, value in points:
        series[key].append((value, run.quiet))
    return {
        "all": {k: [v for v, _ in vs] for k, vs in series.items()},
        "quiet": {k: [v for v, quiet in vs if quiet] for k, vs in series.items()},
        "loaded": {k: [v for v, _ in vs] for k, vs in series.items() if not all(q for _, q in vs)},
    }


def mean_noise(series: list[list[float]], chosen: int = 1) -> tuple[float | None, int]:
    """The mean over series that have enough runs, and how many they are."""
    known = [n for n in (noise(values, chosen) for values in series) if n is not None]
    return (statistics.fmean(known) if known else None), len(known)


def trace_points(traces: list[Trace]) -> list[tuple[tuple, Run, float]]:
    """Series are (role, resource, metric, configuration, instance)."""
    return [
        ((t.role, t.resource, metric, t.run.configuration, t.instance), t.run, value)
        for t in traces for metric, value in t.metrics.items()
    ]  # fmt: skip

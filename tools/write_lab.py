# SPDX-License-Identifier: Apache-2.0
"""Writes docs/lab.md and its pictures: what the lab has measured.

    python3 tools/write_lab.py DATA DOCS

DATA is a folder that `foretrain store export` wrote; the page and lab_*.svg go into the folder DOCS.
"""
import argparse
import collections
import functools
import pathlib
import statistics

import lab_plots
from lab_data import (
    METRICS, QUIET_CORES, Campaign, Run, base_setting, load, mean_noise, means, patterns, quantile, repeats, spreads,
    trace_points,
)  # fmt: skip
from lab_plots import METRIC_TITLES, TITLES, quantity, title_of
from wrap_docs import wrap
from write_accuracy import table

MOST_FIXED_WORK = 1.4  # times its median
SPREAD_RESOURCES = [r for r in TITLES if r != "memory_used"]  # which is flat
STEP_NUMBERS = {
    "step_median_s": "step",
    "exposed_sync_s": "exposed synchronisation",
    "compute_s": "step without communication",
}
LOADS = {"all": "all", "quiet": "quiet", "loaded": "with foreign load"}


def spread_text(values: list[float] | None, unit: str) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return quantity(values[0], unit)
    low, middle, high = (quantity(quantile(values, q), unit).split(" ") for q in (0.1, 0.5, 0.9))
    if low[1:] == middle[1:] == high[1:]:  # one unit for all three
        return " ".join([middle[0], f"({low[0]}–{high[0]})", *middle[1:]])
    return f"{' '.join(middle)} ({' '.join(low)} – {' '.join(high)})"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def in_order(keys) -> list[tuple[str, str]]:
    """(role, resource): workers first, resources as in a report."""
    names = list(TITLES)
    place = lambda r: names.index(r) if r in names else len(names)  # noqa: E731
    return sorted(set(keys), key=lambda key: (key[0] != "worker", key[0], place(key[1]), key[1]))


def units_of(campaign: Campaign) -> dict[str, str]:
    return {trace.resource: trace.unit for trace in campaign.traces}


def settings_of(campaign: Campaign) -> list[str]:
    base = base_setting(campaign.runs)
    return sorted({run.setting for run in campaign.runs}, key=lambda s: (s != base, s))


def counts(campaign: Campaign) -> list[str]:
    lines = []
    for setting in settings_of(campaign):
        runs = [run for run in campaign.runs if run.setting == setting]
        by = collections.Counter(run.configuration for run in runs if "wall_s" not in run.numbers)
        whole = sum("wall_s" in run.numbers for run in runs)
        test = {run.configuration for run in runs if run.split == "test" and "wall_s" not in run.numbers}
        loads = [run.numbers["foreign_load"] for run in runs if "foreign_load" in run.numbers]
        others = sorted((status, n) for (s, status), n in campaign.others.items() if s == setting)
        lines.append([setting, f"{len(by):,}", f"{len(test):,}", f"{by.total():,}",
                      f"{sum(n > 1 for n in by.values()):,}", f"{whole:,}", percent(sum(r.quiet for r in runs) / len(runs)),
                      f"{quantile(loads, 0.5):.2f}" if loads else "",
                      ", ".join(f"{n} {status}" for status, n in others)])  # fmt: skip
    header = ["setting", "configurations", "test split", "runs", "repeated", "whole jobs",
              "quiet", "others' cores", "does not count"]  # fmt: skip
    return table(header, lines, 1)


def pattern_table(campaign: Campaign) -> list[str]:
    found = patterns(campaign.traces)
    lines = []
    for role, resource in in_order(found):
        of_one = found[role, resource]
        shares = [percent(of_one[pattern] / of_one.total()) for pattern in ("I", "BIB", "B")]
        lines.append([role, title_of(resource), f"{of_one.total():,}", *shares])
    return table(["role", "resource", "traces", "I", "BIB", "B"], lines, 2)


def spread_table(campaign: Campaign, group_of, groups: list[str], what: str, setting: str = "") -> list[str]:
    traces = [t for t in campaign.traces if not setting or t.run.setting == setting]
    found, units = spreads(traces, group_of), units_of(campaign)
    lines = []
    for role, resource in in_order(key[:2] for key in found):
        if resource not in SPREAD_RESOURCES:
            continue
        for group in groups:
            cells = [found.get((role, resource, group, metric)) for metric in METRICS]
            if any(cells):
                texts = [spread_text(c, units[resource] if m == "amount" else "s") for c, m in zip(cells, METRICS, strict=True)]
                lines.append([role, title_of(resource), group, f"{max(len(c or []) for c in cells):,}", *texts])
    return table(["role", "resource", what, "configurations", *METRIC_TITLES.values()], lines, 3)


def step_table(runs: list[Run], group_of, groups: list[str], what: str) -> list[str]:
    found = means([((group_of(run), name), run.configuration, run.numbers[name])
                   for run in runs for name in STEP_NUMBERS if name in run.numbers])  # fmt: skip
    lines = []
    for group in groups:
        cells = [found.get((group, name)) for name in STEP_NUMBERS]
        if any(cells):
            lines.append([group, f"{len(cells[0] or []):,}", *(spread_text(c, "s") for c in cells)])
    return table([what, "configurations", *STEP_NUMBERS.values()], lines, 1)


@functools.cache
def noise_of(campaign: Campaign) -> dict[tuple, dict[str, tuple]]:
    """By (role, resource) and load: (of each metric, of all, of means of two runs, series)."""
    result: dict[tuple, dict[str, tuple]] = {}
    for load_name, series in repeats(trace_points(campaign.traces)).items():
        grouped = collections.defaultdict(lambda: {m: [] for m in METRICS})
        for (role, resource, metric, *_), values in series.items():
            grouped[role, resource][metric].append(values)
        for role, resource in in_order(grouped):
            if resource not in SPREAD_RESOURCES:
                continue
            of_metric = grouped[role, resource]
            found = {m: mean_noise(of_metric[m]) for m in METRICS}
            if not any(count for _, count in found.values()):
                continue
            known = [value for value, _ in found.values() if value is not None]
            two = [mean_noise(of_metric[m], 2)[0] for m in METRICS]
            two = [value for value in two if value is not None]
            result.setdefault((role, resource), {})[load_name] = (
                {m: found[m][0] for m in METRICS},
                sum(known) / len(known),
                sum(two) / len(two) if two else None,
                max(count for _, count in found.values()),
            )
    return result


def noise_table(campaign: Campaign) -> list[str]:
    lines = []
    for (role, resource), of_one in noise_of(campaign).items():
        for load_name, (metrics, all_three, two, series) in of_one.items():
            lines.append([role, title_of(resource), LOADS[load_name], f"{series:,}",
                          *(percent(metrics[m]) for m in METRICS), percent(all_three), percent(two)])  # fmt: skip
    return table(["role", "resource", "runs", "series", *METRICS, "all three", "mean of two runs"], lines, 3)


def fixed_work(run: Run) -> float | None:
    """What the machine took for it, mean of before and after."""
    names = ("calibration_before_s", "calibration_after_s")
    return statistics.fmean(run.numbers[name] for name in names) if all(name in run.numbers for name in names) else None


def calibrated(runs: list[Run]) -> list:
    """Steps over the fixed work, of runs in which that took about as long as usual."""
    timed = [(run, work) for run in runs if (work := fixed_work(run)) and "step_median_s" in run.numbers]
    most = MOST_FIXED_WORK * statistics.median(work for _, work in timed) if timed else 0
    return [((run.configuration,), run, run.numbers["step_median_s"] / work) for run, work in timed if work <= most]


def step_points(runs: list[Run]) -> dict[str, list]:
    points = {words: [((run.configuration,), run, run.numbers[name]) for run in runs if name in run.numbers]
              for name, words in STEP_NUMBERS.items()}  # fmt: skip
    points["step over calibration"] = calibrated(runs)
    return points


def step_noise(campaign: Campaign) -> dict[str, dict[str, tuple[float | None, float | None, int]]]:
    runs = [run for run in campaign.runs if "wall_s" not in run.numbers]
    result = {}
    for words, points in step_points(runs).items():
        for load_name, series in repeats(points).items():
            value, count = mean_noise(list(series.values()))
            if count:
                two = mean_noise(list(series.values()), 2)[0]
                result.setdefault(words, {})[load_name] = (value, two, count)
    return result


def step_noise_table(campaign: Campaign) -> list[str]:
    lines = [[words, LOADS[load_name], f"{count:,}", percent(value), percent(two)]
             for words, of_one in step_noise(campaign).items()
             for load_name, (value, two, count) in of_one.items()]  # fmt: skip
    return table(["time", "runs", "configurations", "one run", "mean of two runs"], lines, 2)


def whole_table(campaign: Campaign) -> list[str]:
    lines = []
    for setting in settings_of(campaign):
        jobs = [run.numbers for run in campaign.runs if run.setting == setting and "wall_s" in run.numbers]
        if jobs:
            rest = [job["wall_s"] - job["steps"] * job["step_mean_s"] for job in jobs]
            lines.append([setting, f"{len(jobs)}", spread_text([job["wall_s"] for job in jobs], "s"),
                          spread_text(rest, "s")])  # fmt: skip
    return table(["setting", "jobs", "from start to exit", "of that outside steps"], lines, 1)


def pictures(campaign: Campaign) -> dict[str, str]:
    base, units = base_setting(campaign.runs), units_of(campaign)
    traces = [t for t in campaign.traces if t.resource in SPREAD_RESOURCES]
    families = spreads([t for t in traces if t.run.setting == base], lambda run: run.family)
    settings = spreads(traces, lambda run: run.setting)
    found = patterns(campaign.traces)
    lines = [(f"{role}: {title_of(resource)}, {metric}", {k: v[0][metric] for k, v in of_one.items()})
             for (role, resource), of_one in noise_of(campaign).items() for metric in METRICS]  # fmt: skip
    lines += [(words, {k: v[0] for k, v in of_one.items()}) for words, of_one in step_noise(campaign).items()]
    result = {
        "lab_patterns.svg": lab_plots.stacks(found, in_order(found)),
        "lab_families.svg": lab_plots.boxes(families, "worker", units, sorted({key[2] for key in families})),
        "lab_settings.svg": lab_plots.boxes(settings, "worker", units, settings_of(campaign)),
    }
    return result | ({"lab_noise.svg": lab_plots.noise_bars(lines)} if lines else {})


def noise_section(campaign: Campaign) -> list[str]:
    if not step_noise(campaign):
        return ["No configuration has two runs yet."]
    return [*step_noise_table(campaign), "", *noise_table(campaign), "", "![noise](lab_noise.svg)"]


def page(campaign: Campaign) -> str:
    base = base_setting(campaign.runs)
    families = sorted({run.family for run in campaign.runs})
    settings = settings_of(campaign)
    steps = [run for run in campaign.runs if "wall_s" not in run.numbers]
    in_base = [run for run in steps if run.setting == base]
    by_family, by_setting = (lambda run: run.family), (lambda run: run.setting)
    whole = whole_table(campaign)
    lines = [
        "# What the lab has measured",
        "",
        "Written by `make lab-report` from [data/lab/measured](../data/lab/measured); do not edit. [collect.md](collect.md) says how it was measured.",
        f"A run is *quiet* where others used at most {QUIET_CORES} cores meanwhile.",
        "",
        *counts(campaign),
        "",
        "## Patterns",
        "",
        "How often the trace of a resource is all idle (I), alternates (BIB) or is all burst (B). A trace is one resource of one process of one run.",
        "",
        *pattern_table(campaign),
        "",
        "![shares of patterns](lab_patterns.svg)",
        "",
        "## Spread by workload",
        "",
        f"In the base setting, {base}: the median over configurations and in brackets the 10th and 90th percentile. A configuration counts by the",
        "mean of its runs. Pictures show also the middle half (box).",
        "",
        *step_table(in_base, by_family, families, "family"),
        "",
        *spread_table(campaign, by_family, families, "family", base),
        "",
        "![metrics of workers by family](lab_families.svg)",
        "",
        "## Spread by setting",
        "",
        "Over all workloads of a setting, which are not the same in each: the base setting has more of them, and larger ones.",
        "",
        *step_table(steps, by_setting, settings, "setting"),
        "",
        *spread_table(campaign, by_setting, settings, "setting"),
        "",
        "![metrics of workers by setting](lab_settings.svg)",
        "",
        "## Noise",
        "",
        "One run of a configuration against the mean of its other runs, abs(a / b − 1): the mean over choices, then over configurations (series: of",
        "each process). *Quiet* compares quiet runs only, *with foreign load* configurations of which some run was not quiet. The last column takes",
        "the mean of two runs instead of one, where there are three. *Over calibration*: steps divided by the time of the fixed work before and after,",
        f"without runs in which that took more than {MOST_FIXED_WORK} times the median (one build of it was slower, [collect.md](collect.md)).",
        "No error below these figures can be told from noise.",
        "",
        *noise_section(campaign),
        *(["", "## Whole jobs", "", *whole] if len(whole) > 2 else []),
    ]
    return "\n".join(lines) + "\n"


def outputs(data: pathlib.Path) -> dict[str, str]:
    """File names and what they hold."""
    campaign = load(data)
    return {"lab.md": wrap(page(campaign)), **pictures(campaign)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("docs", type=pathlib.Path)
    options = parser.parse_args()
    for name, text in outputs(options.data).items():
        (options.docs / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

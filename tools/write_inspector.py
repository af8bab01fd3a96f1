# SPDX-License-Identifier: Apache-2.0
"""Writes docs/inspector.md: predicted bursts and idles against what the lab measured.

    python3 tools/write_inspector.py PROGRAM DATA DOCS

`PROGRAM fit inspector` by each method on the train split of DATA, then `PROGRAM evaluate --resources` on the
architectures of the test split. The page and its pictures go into DOCS.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import tempfile

import accuracy_plot
from lab_plots import title_of
from wrap_docs import wrap
from write_accuracy import table

BASE = "ddp2-core-1g"
METHODS = {
    "hybrid": "the default: physics, corrected by trees where that helps",
    "physics": "the replayed timeline with an offset per number",
    "network": "a graph network that corrects physics",
    "trees": "boosted trees on features of graph and setting, without physics",
}
SHORT = {"gpu_util": "device", "gpu_memory_util": "memory", "net_tx": "Tx", "net_rx": "Rx"}
RESOURCES = tuple(SHORT)
NUMBERS = {"burst_s": "burst", "idle_s": "idle"}


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def score(program: str, data: pathlib.Path, method: str, folder: str) -> tuple[list[dict], list[dict]]:
    """Scores by setting, role and resource, and every number with its prediction."""
    fitted, rows = f"{folder}/{method}.json", f"{folder}/{method}.csv"
    run(program, "fit", "inspector", "--data", str(data), "--method", method, "-o", fitted)
    judged = run(program, "evaluate", "--data", str(data), "--resources", "--predictor", fitted, "--json",
                 "--rows", rows)  # fmt: skip
    with open(rows, encoding="utf-8") as file:
        return json.loads(judged)["resources"], list(csv.DictReader(file))


def of_base(scores: list[dict]) -> dict[str, dict]:
    return {one["resource"]: one for one in scores if one["setting"] == BASE and one["role"] == "worker"}


def methods_table(scores: dict[str, list[dict]]) -> list[str]:
    body = []
    for method in METHODS:
        base = of_base(scores[method])
        cells = [f"{percent(base[name]['mean'])} ({percent(base[name]['median'])})" for name in RESOURCES]
        rmse = sum(base[name]["log_rmse"] for name in RESOURCES) / len(RESOURCES)
        body.append([f"`{method}`", *cells, f"{rmse:.3f}"])
    floor = of_base(scores["hybrid"])
    body.append(["noise of one run", *(f"{percent(floor[name]['floor_mean'])} ({percent(floor[name]['floor_median'])})"
                                       for name in RESOURCES), ""])  # fmt: skip
    return table(["method", *SHORT.values(), "log RMSE"], body, 1)


def errors_table(scores: list[dict]) -> list[str]:
    header = ["setting", "resource", "jobs", "mean", "median", "floor", "amount", "burst", "idle"]
    body = [[one["setting"], SHORT[one["resource"]], f"{one['jobs']:.0f}",
             *(percent(one[key]) for key in ("mean", "median", "floor_mean", "burst_amount", "burst_s", "idle_s"))]
            for one in scores]  # fmt: skip
    return table(header, body, 2)


def spread_table(scores: list[dict]) -> list[str]:
    body = [[one["setting"], SHORT[one["resource"]], f"{one['nrmse']:.3f}", f"{one['log_rmse']:.3f}",
             percent(one["coverage"]), f"{one['missing']:.0f}"] for one in scores]  # fmt: skip
    return table(["setting", "resource", "NRMSE", "log RMSE", "in interval", "missing"], body, 2)


def settings_tables(scores: list[dict]) -> list[str]:
    lines = []
    for role in ("worker", "server"):
        of_role = [one for one in scores if one["role"] == role]
        if of_role:
            lines += ["", f"### Of a {role}", "", *errors_table(of_role), "", *spread_table(of_role)]
    return lines


def pictures(rows: list[dict]) -> dict[str, str]:
    """Durations of the base setting's workers, a picture per kind."""
    series = {number: collections.defaultdict(list) for number in NUMBERS}
    for row in rows:
        role, resource, number = row["number"].split(".")
        if row["setting"] != BASE or role != "worker" or number not in NUMBERS or not row["predicted"]:
            continue
        series[number][title_of(resource)].append((float(row["measured"]), float(row["predicted"])))
    return {f"inspector_{NUMBERS[number]}.svg": accuracy_plot.scatter(dict(of_one), NUMBERS[number])
            for number, of_one in series.items()}  # fmt: skip


def page(scores: dict[str, list[dict]]) -> str:
    lines = [
        "# Use of resources: predictions against the lab",
        "",
        "Written by `make inspector-report`; do not edit. [The model](models/inspector.md) says how an inspector is"
        " fitted, [evaluation](evaluate.md) what the columns mean. Every inspector learned from runs of the train split"
        " in all settings; scored are architectures of the test split, which was fixed before anything was measured."
        " An error is the mean over burst amount, burst duration and idle duration of |predicted / measured − 1|; the"
        " measured number is the median of the repeats. The floor is one run against the median of its other repeats;"
        " it is missing while a configuration has one run.",
        "",
        f"## Methods: workers in the base setting, {BASE}",
        "",
        "Mean errors, medians in brackets; the root mean square of log(predicted / measured) is the mean over the four"
        " resources.",
        "",
        *methods_table(scores),
        "",
        *(f"- `{method}`: {about}" for method, about in METHODS.items()),
        "",
        "![burst durations, predicted against measured](inspector_burst.svg)",
        "",
        "![idle durations, predicted against measured](inspector_idle.svg)",
        "",
        "## The default in every setting",
        "",
        "Missing are numbers of resources that were measured to alternate and predicted not to; they count as 100 %.",
        *settings_tables(scores["hybrid"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("docs", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judged = {method: score(options.program, options.data, method, folder) for method in METHODS}
    for name, svg in pictures(judged["hybrid"][1]).items():
        (options.docs / name).write_text(svg, encoding="utf-8")
    text = wrap(page({method: scores for method, (scores, _) in judged.items()}))
    (options.docs / "inspector.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

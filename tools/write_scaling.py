# SPDX-License-Identifier: Apache-2.0
"""Writes scaling_tests.md: how well scaling models interpolate and extrapolate on public measurements.

    python3 tools/write_scaling.py PROGRAM POLLUX_CSV DOCS [--threads N]

`PROGRAM fit scaling --tests` on the steps of Pollux, alone and with the operator engine's time, as tables and as
pictures of predicted against measured steps.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import accuracy_plot
from wrap_docs import wrap
from write_accuracy import table

MODES = {"": "from its own runs alone", "operators": "with the operator engine's time"}
METHODS = ["ernest", "costs", "ridge", "lasso", "stepwise", "tree"]  # forests, boosted trees, svr and mlp take minutes for each model


def percent(error: float) -> str:
    return f"{100 * error:.1f} %" if error < 10 else "> 999 %"


def start(program: str, data: str, mode: str, rows: pathlib.Path, threads: int) -> subprocess.Popen:
    command = [program, "fit", "scaling", "--data", data, "--tests", "--json", "--rows", str(rows), "--threads", str(threads),
               "--method", ",".join(METHODS)]  # fmt: skip
    return subprocess.Popen(command + (["--with", mode] if mode else []), stdout=subprocess.PIPE, text=True)


def result_of(process: subprocess.Popen) -> dict:
    text, _ = process.communicate()
    if process.returncode:
        sys.exit(process.returncode)
    return json.loads(text)


def best_of(methods: dict[str, float]) -> str:
    name = min(methods, key=methods.get)
    return f"{name} {percent(methods[name])}"


def summary(results: dict[str, dict]) -> list[str]:
    """A line per kind and variable: chosen methods in each mode, the best one in hindsight, Ernest."""
    plain, with_operators = results[""]["summary"], results["operators"]["summary"]
    body = [[one["kind"], one["variable"], str(one["tests"]), percent(one["error"]), percent(other["error"]),
             best_of(one["methods"]), percent(one["methods"]["ernest"])]
            for one, other in zip(plain, with_operators)]  # fmt: skip
    ernest = [one["methods"]["ernest"] for one in results[""]["tests"]]
    body.append(["all", "", str(len(ernest)), percent(results[""]["mean_error"]), percent(results["operators"]["mean_error"]),
                 "", percent(sum(ernest) / len(ernest))])  # fmt: skip
    head = ["test", "left out", "tests", "chosen", "with operators", "best in hindsight", "Ernest"]
    return table(head, body, 2)


def methods(result: dict) -> list[str]:
    body = [[one["kind"], one["variable"], *(percent(one["methods"][name]) for name in METHODS)] for one in result["summary"]]
    return table(["test", "left out", *METHODS], body, 2)


def tests(result: dict) -> list[str]:
    body = [[one["workload"].partition(",")[0], one["kind"], one["variable"], f"{one['train_rows']:.0f}", f"{one['test_rows']:.0f}",
             percent(one["error"]), one["chosen"], percent(one["methods"]["ernest"])]
            for one in result["tests"]]  # fmt: skip
    return table(["model", "test", "left out", "learned from", "tested", "error", "chosen", "Ernest"], body, 3)


def picture(rows: pathlib.Path, path: pathlib.Path) -> None:
    """Rows that were extrapolated in one variable."""
    series: dict[str, list[tuple[float, float]]] = {}
    with rows.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "extrapolation" and row["variable"] != "together":
                name = row["workload"].partition(",")[0]
                series.setdefault(name, []).append((float(row["measured_s"]), float(row["predicted_s"])))
    accuracy_plot.write(path, series, "step")


def page(results: dict[str, dict]) -> list[str]:
    lines = ["# Scaling models: interpolation and extrapolation", "",
             "Written by `make scaling-report DATA=dir`; do not edit. [Scaling models](scaling.md) says what the methods are.",
             "The steps of Pollux (six models on 1 to 64 T4, 1 to 16 nodes). Interpolation: every third value of a variable is left out, never the "
             "first or the last. Extrapolation: the highest third of its values is left out. Together: rows that are left out in two or more "
             "variables are tested, those left out in none are learned from. What is chosen is chosen by the rows learned from alone: by five "
             "folds for interpolation, for extrapolation by their own highest sixth, third and half as well, all folds with the weight of one of these. Errors are means of |predicted / measured - 1| over the rows "
             "of a test, then over tests. The slow methods (`forest`, `xgboost`, `svr`, `mlp`) took no part.", "", "## Means over the six models", "", *summary(results), "",
             "The operator engine's constants of this framework and its network were fitted to steps of the same file, so what it adds here is more "
             "than it would add to runs that nobody has measured.", ""]  # fmt: skip
    for mode, title in MODES.items():
        lines += [f"## Every method, {title}", "", *methods(results[mode]), "", f"## Every test, {title}", "", *tests(results[mode]), "",
                  f"![extrapolated steps {title}]({picture_name(mode)})", ""]  # fmt: skip
    return lines


def picture_name(mode: str) -> str:
    return f"scaling_extrapolation{'_' + mode if mode else ''}.svg"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("data", help="pollux.csv")
    parser.add_argument("docs", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = {mode: pathlib.Path(folder, f"rows_{mode}.csv") for mode in MODES}
        started = {mode: start(given.program, given.data, mode, rows[mode], given.threads) for mode in MODES}  # beside each other
        results = {mode: result_of(process) for mode, process in started.items()}
        for mode in MODES:
            picture(rows[mode], given.docs / picture_name(mode))
    (given.docs / "scaling_tests.md").write_text(wrap("\n".join(page(results))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

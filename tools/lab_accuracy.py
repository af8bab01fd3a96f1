# SPDX-License-Identifier: Apache-2.0
"""Writes docs/lab_accuracy.md: predictions against what the lab measured, after a calibration.

    python3 tools/lab_accuracy.py PROGRAM DATA DOCS

`PROGRAM fit calibration` by DATA/operators.csv and ten runs of the base setting in DATA/measured/runs.csv,
then `PROGRAM evaluate` on all runs whose models do not calibrate. The page and its pictures go into DOCS.
"""
import argparse
import collections
import pathlib
import statistics
import subprocess
import sys
import tempfile

import accuracy_plot
from lab_data import family_of, rows
from wrap_docs import wrap
from write_accuracy import table

CALIBRATES = "its model calibrates the others"  # as `evaluate` says it
TITLES = {"step_time": "Steps", "wall time": "Whole jobs", "exposed_sync": "Exposed synchronisation"}
TIME_OF = {"step_time": "step", "wall time": "job", "exposed_sync": "step's synchronisation"}


def summary(errors: list[float]) -> list[str]:
    """Of predicted / measured - 1: how many, mean and median of the size, mean."""
    sizes = [abs(error) for error in errors]
    return [f"{len(errors):,}", f"{100 * statistics.fmean(sizes):.1f} %", f"{100 * statistics.median(sizes):.1f} %",
            f"{100 * statistics.fmean(errors):+.1f} %"]  # fmt: skip


def grouped(judged: list[dict], key) -> dict[tuple[str, str], list[float]]:
    """Errors by number ("step_time") and group."""
    groups = collections.defaultdict(list)
    for row in judged:
        number = row["metric"].partition(", ")[0]
        groups[number, key(row)].append(float(row["predicted"]) / float(row["measured"]) - 1)
    return groups


def setting_of(row: dict) -> str:
    return row["metric"].partition(", ")[2]


def tables(judged: list[dict]) -> list[str]:
    lines = []
    for number, title in TITLES.items():
        lines += ["", f"## {title}", ""]
        for what, key in (("setting", setting_of), ("family", lambda row: family_of(row["model"]))):
            groups = sorted((group, errors) for (n, group), errors in grouped(judged, key).items() if n == number)
            body = [[group, *summary(errors)] for group, errors in groups]
            body.append(["all", *summary([e for _, errors in groups for e in errors])])
            lines += [*table([what, "runs", "MAPE", "median", "bias"], body, 1), ""]
        lines.append(f"![{title.lower()}, predicted against measured]({picture_of(number)})")
    return lines


def picture_of(number: str) -> str:
    return f"lab_accuracy_{number.replace(' ', '_')}.svg"


def pictures(judged: list[dict]) -> dict[str, str]:
    series = {number: collections.defaultdict(list) for number in TITLES}
    for row in judged:
        number, _, setting = row["metric"].partition(", ")
        series[number][setting].append((float(row["measured"]), float(row["predicted"])))
    return {picture_of(number): accuracy_plot.scatter(dict(of_one), TIME_OF[number])
            for number, of_one in series.items() if of_one}  # fmt: skip


def page(calibration: list[str], judged: list[dict]) -> str:
    lines = [
        "# Predictions against the lab",
        "",
        "Written by `make lab-accuracy`; do not edit. [collect.md](collect.md) says how the runs were made, [lab.md](lab.md) what they were and how far",
        "repeats lie apart. The CPU is calibrated by its operators and by ten runs of the base setting, each of another architecture:",
        "",
        *(f"    {line.strip()}" for line in calibration),
        "",
        "Scored are all runs, in every setting, of architectures that did not calibrate. Errors are of predicted / measured − 1: MAPE is the mean and median the",
        "median of their size, bias their mean. Some constants of the CPU model were chosen in view of these runs; [the CPU model](models/cpu.md) names them.",
        *tables(judged),
    ]
    return "\n".join(lines) + "\n"


def score(judged: list[dict]) -> list[dict]:
    """Rows with a prediction; all must have one whose model does not calibrate."""
    wanted = [row for row in judged if row["measured"] and row["reason"] != CALIBRATES]
    refused = [row for row in wanted if not row["predicted"]]
    if refused:
        sys.exit(f"{len(refused)} runs have no prediction; {refused[0]['model']}: {refused[0]['reason']}")
    return wanted


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("docs", type=pathlib.Path)
    options = parser.parse_args()
    runs = options.data / "measured/runs.csv"
    with tempfile.TemporaryDirectory() as folder:
        fitted, judged = f"{folder}/cpu.json", f"{folder}/rows.csv"
        said = run(options.program, "fit", "calibration", "--operators", str(options.data / "operators.csv"),
                   "--data", str(runs), "-o", fitted)  # fmt: skip
        run(options.program, "evaluate", "--data", str(runs), "--predictor", fitted, "--rows", judged)
        scored = score(rows(pathlib.Path(judged)))
    calibration = [line for line in said.splitlines() if "cpu by" in line or "mean error" in line]
    (options.docs / "lab_accuracy.md").write_text(wrap(page(calibration, scored)), encoding="utf-8")
    for name, text in pictures(scored).items():
        (options.docs / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Writes search_tests.md: how many runs a search needs, and what a design buys, against points drawn at random.

    python3 tools/write_search.py PROGRAM POLLUX_CSV DOCS [--seeds 20] [--jobs EXPORT]

For each model of Pollux the measured placements and batches are the space and the time per sample is the goal;
`PROGRAM search --table` tries points one after the other until one is within 5 % of the best that was measured.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import design_tests
from wrap_docs import wrap
from write_accuracy import table

NEAR = 1.05
MOST_RUNS = 1000  # of a search
SHARES = (0.02, 0.05, 0.1)  # budgets of designs, of what all candidates cost
COLUMNS = ["gpus", "nodes", "most_on_node", "batch", "time_s"]


def placement_of(row: dict) -> tuple[int, int, int]:
    """Devices, nodes, and devices on the fullest node."""
    gpus, nodes = int(row["gpus"]), int(row["nodes"])
    found = re.search(r"placement=([0-9]+)", row["notes"])
    most = max(int(digit) for digit in found.group(1)) if found and "not recorded" not in row["notes"] else -(-gpus // nodes)
    return gpus, nodes, most


def points_of(data: pathlib.Path) -> dict[str, list[list]]:
    """By model: a row of COLUMNS for each measured step."""
    models: dict[str, list[list]] = {}
    with data.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric"] != "step_time":
                continue
            gpus, nodes, most = placement_of(row)
            batch = float(row["batch_per_gpu"])
            models.setdefault(row["model"], []).append([gpus, nodes, most, batch, float(row["value"]) / (gpus * batch)])
    return models


def means(points: list[list]) -> dict[tuple, float]:
    """Of rows that the search cannot tell apart, as it takes them."""
    groups: dict[tuple, list[float]] = {}
    for *point, goal in points:
        groups.setdefault(tuple(point), []).append(goal)
    return {point: statistics.fmean(goals) for point, goals in groups.items()}


def runs_until_near(program: str, file: pathlib.Path, best: float, seed: int, most: int, extra: list[str]) -> int:
    """How many runs until one is near the best; one more than were made where none was."""
    command = [program, "search", "--table", str(file), "--goal", "time_s", "--json", "--stop", "0", "--seed", str(seed),
               "--most", str(most), *extra]  # fmt: skip
    history = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["history"]
    for place, one in enumerate(history, 1):
        if one["time_s"] <= NEAR * best:
            return place
    return len(history) + 1


def stopped(program: str, file: pathlib.Path, best: float, seed: int) -> tuple[int, float]:
    """Runs until the stop rule ends the search, and how far above the best it ended."""
    command = [program, "search", "--table", str(file), "--goal", "time_s", "--json", "--seed", str(seed)]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return int(result["runs"]), result["best"]["time_s"] / best - 1


def judge(program: str, model: str, points: list[list], seeds: int, most: int) -> list[str]:
    goals = means(points)
    best = min(goals.values())
    near = sum(goal <= NEAR * best for goal in goals.values())
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "points.csv")
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([COLUMNS, *points])
        ours = [runs_until_near(program, file, best, seed, most, []) for seed in range(1, seeds + 1)]
        drawn = [runs_until_near(program, file, best, seed, min(len(goals), MOST_RUNS), ["--random"]) for seed in range(1, seeds + 1)]
        ends = [stopped(program, file, best, seed) for seed in range(1, seeds + 1)]
    middle = statistics.median
    return [model, f"{len(goals):,}", str(near), f"{middle(ours):g} ({min(ours)} to {max(ours)})", f"{middle(drawn):g} ({min(drawn)} to {max(drawn)})",
            f"{middle(runs for runs, _ in ends):g}", f"{100 * middle(above for _, above in ends):.1f} %"]  # fmt: skip


def candidates_of(points: list[list]) -> list[dict]:
    """Runs that a design chooses from: the mean step at each count of devices and batch, device-seconds as cost."""
    groups: dict[tuple, list[float]] = {}
    for gpus, _, _, batch, goal in points:
        groups.setdefault((gpus, batch), []).append(goal * gpus * batch)
    largest = max(gpus * batch for gpus, batch in groups)
    return [{"workers": gpus, "batch": batch, "fraction": gpus * batch / largest, "time": statistics.fmean(steps),
             "cost": gpus * statistics.fmean(steps)} for (gpus, batch), steps in sorted(groups.items())]  # fmt: skip


def ernest_error(program: str, candidates: list[dict], runs: list[int], folder: pathlib.Path) -> float:
    """Mean error of Ernest's law from these runs on all the others."""
    table_file, model_file = folder / "runs.csv", folder / "ernest.json"
    with table_file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerows([["workers", "batch", "time"], *([candidates[i][key] for key in ("workers", "batch", "time")] for i in runs)])
    subprocess.run([program, "fit", "scaling", "--data", str(table_file), "--columns", "time=time,workers=workers,batch=batch", "--method",
                    "ernest", "--threads", "1", "-o", str(model_file)], check=True, capture_output=True)  # fmt: skip
    form = json.loads(model_file.read_text(encoding="utf-8"))["workloads"][0]
    errors = []
    for i in set(range(len(candidates))) - set(runs):
        one = candidates[i]
        features = {"batch": one["batch"], "log(workers)": math.log(one["workers"]), "workers": one["workers"]}
        told = form["regressor"]["intercept"] + sum(
            weight * features[name] for name, weight in zip(form["features"], form["regressor"]["weights"]))  # fmt: skip
        errors.append(abs(told / one["time"] - 1))
    return statistics.fmean(errors)


def drawn_runs(candidates: list[dict], budget: float, seed: int) -> list[int]:
    order = list(range(len(candidates)))
    random.Random(seed).shuffle(order)
    runs, cost = [], 0.0
    for i in order:
        if cost + candidates[i]["cost"] <= budget:
            runs.append(i)
            cost += candidates[i]["cost"]
    return runs


def judge_design(program: str, model: str, points: list[list], seeds: int) -> list[list[str]]:
    """A line per budget: runs and error of the design, error of runs drawn for the same cost."""
    candidates = candidates_of(points)
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / "candidates.csv"
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([["workers", "fraction", "cost"], *([one["workers"], one["fraction"], one["cost"]] for one in candidates)])
        for share in SHARES:
            budget = share * sum(one["cost"] for one in candidates)
            command = [program, "design", "--candidates", str(file), "--budget", repr(budget), "--json"]
            chosen = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["runs"]
            places = {(one["workers"], round(one["fraction"], 12)): i for i, one in enumerate(candidates)}
            runs = [places[one["workers"], round(one["fraction"], 12)] for one in chosen]
            ours = ernest_error(program, candidates, runs, folder)
            drawn = [drawn_runs(candidates, budget, seed) for seed in range(1, seeds + 1)]
            errors = [ernest_error(program, candidates, one, folder) for one in drawn if len(one) >= 4]
            lines.append([model, f"{100 * share:g} %", str(len(runs)), f"{100 * ours:.1f} %", f"{100 * statistics.fmean(errors):.1f} %",
                          f"{100 * statistics.median(errors):.1f} %", f"{sum(error > ours for error in errors)} of {len(errors)}"])  # fmt: skip
    return lines


def page(body: list[list[str]], designs: list[list[str]], seeds: int, most: int) -> list[str]:
    head = ["model", "points", "within 5 %", "search", "drawn at random", "stop rule: runs", "above the best"]
    return ["# Search: how many runs it takes", "",
            f"Written by `make search-report DATA=dir`; do not edit. [Design and search](search.md) says how the search works. For each model that "
            f"Pollux measured, the space is its measured placements (devices, nodes, devices on the fullest node) and batches, the goal is the time "
            f"per sample. Medians over {seeds} seeds, least and most in brackets: runs until a point within 5 % of the best is found, by "
            f"`foretrain search` (at most {most} runs) and by points drawn at random; then where the stop rule of 10 % ends a search. "
            f"One run more than the most that were made stands for a search that did not come so near; the two ends are medians of their own.", "",
            *table(head, body, 1), "", "## Designs", "",
            f"Candidates are each model's counts of devices and batches, with the mean of their measured steps; a run costs its device-seconds, the "
            f"budget is a share of what all of them cost. Ernest's law is fitted to the runs of `foretrain design`, and to {seeds} sets of runs drawn "
            f"at random for the same budget; errors are means over all other candidates. Sets of fewer than four runs have no law and do not count.", "",
            *table(["model", "budget", "runs", "designed", "drawn: mean", "drawn: median", "drawn sets that are worse"], designs, 1), ""]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path, help="pollux.csv")
    parser.add_argument("docs", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--jobs", type=pathlib.Path, help="an export of the lab's store, with whole jobs")
    given = parser.parse_args()
    body = [judge(given.program, model, points, given.seeds, given.most) for model, points in sorted(points_of(given.data).items())]
    designs = [line for model, points in sorted(points_of(given.data).items()) for line in judge_design(given.program, model, points, given.seeds)]
    lines = page(body, designs, given.seeds, given.most)
    if given.jobs:
        points = design_tests.judge_jobs(given.program, given.jobs, given.seeds)
        lines += design_tests.jobs_section(points, given.seeds)
        if points:
            (given.docs / "search_designs.svg").write_text(design_tests.draw_designs(points), encoding="utf-8")
    (given.docs / "search_tests.md").write_text(wrap("\n".join(lines)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

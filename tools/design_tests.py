# SPDX-License-Identifier: Apache-2.0
"""What a design of runs buys on whole jobs: Ernest's law from the runs of `foretrain design`, and from runs drawn at random for the same
cost, each judged on the workload's other jobs. The jobs are those of an export of the lab's store (runs.csv), workers and samples varied.
"""
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

from lab_plots import COLOURS, Picture

LEAST_RUNS = 8  # of a workload
SHARES = (0.1, 0.15, 0.2, 0.3, 0.5)  # budgets, of what all its runs cost
WIDTH, HEIGHT, LEFT = 480, 240, 46


def workloads_of(export: pathlib.Path) -> dict[str, list[dict]]:
    """By model: a candidate for each count of workers and samples, with the mean of its jobs' times; cost in worker-seconds."""
    groups: dict[str, dict[tuple, list[float]]] = {}
    with (export / "runs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            job = json.loads(row["configuration"])
            if row["status"] != "ok" or not row["wall_s"] or "samples" not in job:
                continue
            samples = job["samples"] * job.get("epochs", 1)
            model = f"{job['model']}, batch {job['batch']}, {job['cores']:g} cores, {job['strategy']['kind']}"
            groups.setdefault(model, {}).setdefault((job["workers"], samples), []).append(float(row["wall_s"]))
    found = {}
    for model, times in sorted(groups.items()):
        most = max(samples for _, samples in times)
        runs = [{"workers": workers, "samples": samples, "fraction": samples / most, "time": statistics.fmean(those),
                 "cost": workers * statistics.fmean(those)} for (workers, samples), those in sorted(times.items())]  # fmt: skip
        if len(runs) >= LEAST_RUNS and len({one["workers"] for one in runs}) > 2:
            found[model] = runs
    return found


def write_csv(path: pathlib.Path, head: list[str], rows: list[list]) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([head, *rows])


def ernest_error(program: str, runs: list[dict], chosen: list[int], folder: pathlib.Path) -> float:
    """Mean error of Ernest's law from the chosen runs on all the others."""
    data, model = folder / "runs.csv", folder / "ernest.json"
    keys = ["workers", "samples", "time"]
    write_csv(data, keys, [[runs[i][key] for key in keys] for i in chosen])
    subprocess.run([program, "fit", "scaling", "--data", str(data), "--columns", "time=time,workers=workers,samples=samples", "--method",
                    "ernest", "--threads", "1", "-o", str(model)], check=True, capture_output=True)  # fmt: skip
    form = json.loads(model.read_text(encoding="utf-8"))["workloads"][0]
    errors = []
    for one in (runs[i] for i in set(range(len(runs))) - set(chosen)):
        features = {"samples*inv(workers)": one["samples"] / one["workers"], "log(workers)": math.log(one["workers"]), "workers": one["workers"]}
        told = form["regressor"]["intercept"] + sum(
            weight * features[name] for name, weight in zip(form["features"], form["regressor"]["weights"]))  # fmt: skip
        errors.append(abs(told / one["time"] - 1))
    return statistics.fmean(errors)


def designed(program: str, runs: list[dict], budget: float, folder: pathlib.Path) -> list[int]:
    file = folder / "candidates.csv"
    write_csv(file, ["workers", "fraction", "cost"], [[one["workers"], one["fraction"], one["cost"]] for one in runs])
    command = [program, "design", "--candidates", str(file), "--budget", repr(budget), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:  # no four runs fit the budget
        return []
    places = {(one["workers"], round(one["fraction"], 12)): i for i, one in enumerate(runs)}
    return [places[one["workers"], round(one["fraction"], 12)] for one in json.loads(done.stdout)["runs"]]


def drawn(runs: list[dict], budget: float, seed: int) -> list[int]:
    order = list(range(len(runs)))
    random.Random(seed).shuffle(order)
    chosen, cost = [], 0.0
    for i in order:
        if cost + runs[i]["cost"] <= budget:
            chosen.append(i)
            cost += runs[i]["cost"]
    return chosen


def judge_jobs(program: str, export: pathlib.Path, seeds: int) -> list[dict]:
    """For each budget the mean errors over workloads where both a design and a drawn set have four runs and leave one to judge."""
    workloads = workloads_of(export)
    points = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for share in SHARES:
            ours, theirs, won = [], [], 0
            for runs in workloads.values():
                budget = share * sum(one["cost"] for one in runs)
                chosen = designed(program, runs, budget, folder)
                sets = [one for one in (drawn(runs, budget, seed) for seed in range(1, seeds + 1)) if 4 <= len(one) < len(runs)]
                if not 4 <= len(chosen) < len(runs) or not sets:
                    continue
                ours.append(ernest_error(program, runs, chosen, folder))
                theirs.append([ernest_error(program, runs, one, folder) for one in sets])
                won += statistics.fmean(theirs[-1]) > ours[-1]
            if ours:
                points.append({"share": share, "workloads": len(ours), "designed": statistics.fmean(ours),
                               "drawn": statistics.fmean(statistics.fmean(one) for one in theirs),
                               "worst": statistics.fmean(max(one) for one in theirs), "won": won})  # fmt: skip
    return points


def draw_designs(points: list[dict]) -> str:
    """Mean errors over the budget."""
    picture = Picture()
    most = 1.1 * max(one["worst"] for one in points)

    def place(share: float, error: float) -> str:
        x = LEFT + (WIDTH - LEFT - 150) * (share - SHARES[0]) / (SHARES[-1] - SHARES[0])
        return f"{x:.1f},{8 + (HEIGHT - 44) * (1 - error / most):.1f}"

    for part in range(5):
        error = most * part / 4
        y = float(place(SHARES[0], error).split(",")[1])
        picture.bar(LEFT, y, WIDTH - LEFT - 150, 0.5, "#dddddd")
        picture.text(LEFT - 6, y + 4, f"{100 * error:.0f} %", "end")
    for share in SHARES:
        picture.text(float(place(share, 0).split(",")[0]), HEIGHT - 18, f"{100 * share:g} %", "middle")
    picture.text(LEFT + (WIDTH - LEFT - 150) / 2, HEIGHT - 4, "budget, of what all runs cost", "middle")
    names = {"designed": "A-optimal design", "drawn": "drawn at random: mean", "worst": "drawn at random: worst"}
    for colour, (key, words) in zip(COLOURS, names.items()):
        places = [place(one["share"], one[key]) for one in points]
        picture.parts.append(f'<polyline points="{" ".join(places)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = (float(value) for value in places[-1].split(","))
        picture.text(x + 6, y + 4, words)
    return picture.svg(WIDTH, HEIGHT)


def jobs_section(points: list[dict], seeds: int) -> list[str]:
    if not points:
        return ["## Designs of whole jobs", "", f"No workload of the export has {LEAST_RUNS} jobs or more at three counts of workers.", ""]
    lines = [f"| {100 * one['share']:g} % | {one['workloads']} | {100 * one['designed']:.1f} % | {100 * one['drawn']:.1f} % | "
             f"{100 * one['worst']:.1f} % | {one['won']} |" for one in points]  # fmt: skip
    return ["## Designs of whole jobs", "",
            f"The lab's whole jobs, workers and samples varied: each workload's jobs are the candidates, a job costs its worker-seconds. Ernest's "
            f"law from the designed jobs, and from {seeds} sets drawn at random for the same cost, judged on the workload's other jobs; means over "
            f"workloads. The last column: workloads where the design is better than the mean of the drawn sets.", "",
            "| budget | workloads | designed | drawn: mean | drawn: worst | design is better |",
            "| ---: | ---: | ---: | ---: | ---: | ---: |", *lines, "", "![error over the budget](search_designs.svg)", ""]  # fmt: skip

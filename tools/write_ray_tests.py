# SPDX-License-Identifier: Apache-2.0
"""Writes ray_tests.md: training on Ray as it was measured, and how well scaling models forecast it.

    python3 tools/write_ray_tests.py PROGRAM FOLDER DOCS

FOLDER is what `python3 -m foretrain.ray profile` wrote. `PROGRAM fit scaling --tests` on its epochs, alone and with the
operator engine's time, and on the resources that the jobs used.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections import Counter

import accuracy_plot
from wrap_docs import wrap
from write_accuracy import table
from write_scaling import best_of, percent

AMOUNTS = {"epoch_s": "time of an epoch", "cpu_s": "CPU time of all workers", "memory_bytes": "peak memory of a worker",
           "sent_bytes": "bytes sent over the network"}  # fmt: skip
CONFIGURATION = ["model", "samples", "workers", "cpus", "batch"]
VARIABLES = "model=model,samples=samples,workers=workers,batch=batch,cores=cpus"
PICTURE = "ray_extrapolation.svg"


def rows_of(folder: pathlib.Path, status: str) -> list[dict[str, str]]:
    with (folder / "ray.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["status"] == status]


def mean(values: list[float]) -> float:
    return statistics.fmean(values)


# ---- what was measured ----


def counts(row: dict[str, str], amount: str) -> bool:
    """A process's first job is charged with what the libraries take once, so that its memory is not like others'."""
    return bool(row[amount]) and not (amount == "memory_bytes" and row["startup_s"])


def write_rows(path: pathlib.Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def repeats(rows: list[dict[str, str]], amount: str) -> list[float]:
    """Of each configuration how far its repeats are from their mean, as a share of it."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if counts(row, amount):
            groups.setdefault(tuple(row[name] for name in CONFIGURATION), []).append(float(row[amount]))
    several = [values for values in groups.values() if len(values) > 1 and mean(values) > 0]
    return [mean([abs(value / mean(values) - 1) for value in values]) for values in several]


def noise(rows: list[dict[str, str]]) -> list[str]:
    body = []
    for amount, name in AMOUNTS.items():
        spread = repeats(rows, amount)
        body.append([name, str(len(spread)), percent(mean(spread)), percent(statistics.median(spread)), percent(max(spread))])
    return table(["of", "configurations", "mean", "median", "most"], body, 1)


def per_model(rows: list[dict[str, str]]) -> list[str]:
    body = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        starts = [float(row["startup_s"]) for row in own if row["startup_s"]]
        epochs = [float(row["epoch_s"]) for row in own]
        body.append([f"`{model}`", str(len(own)), str(len({tuple(row[name] for name in CONFIGURATION) for row in own})),
                     f"{min(epochs):.2f} to {max(epochs):.1f} s", f"{min(starts):.0f} to {max(starts):.0f} s" if starts else "-"])  # fmt: skip
    return table(["model", "runs", "configurations", "epochs", "start-up"], body, 1)


# ---- forecasts ----


def fit(program: str, words: list[str]) -> dict:
    done = subprocess.run([program, "fit", "scaling", "--tests", "--json", *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def plain_error(program: str, runs: pathlib.Path) -> float:
    """Of epochs predicted without any run."""
    done = subprocess.run([program, "evaluate", "--data", str(runs), "--by", "metric", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    groups = [one for one in json.loads(done.stdout)["groups"] if one["metric"].startswith("epoch time")]
    return sum(one["mape_percent"] * one["predicted"] for one in groups) / sum(one["predicted"] for one in groups) / 100


def summary(result: dict, other: dict) -> list[str]:
    """A line per kind and variable: chosen methods alone and with the operator engine, hindsight, Ernest."""
    corrected = {(one["kind"], one["variable"]): percent(one["error"]) for one in other["summary"]}
    body = [[one["kind"], one["variable"], str(one["tests"]), percent(one["error"]), percent(one["worst"]),
             "-" if one["inside"] is None else percent(one["inside"]), corrected.get((one["kind"], one["variable"]), "-"), best_of(one["methods"]), percent(one["methods"]["ernest"])]
            for one in result["summary"]]  # fmt: skip
    ernest = mean([one["methods"]["ernest"] for one in result["tests"]])
    worst = max(one["error"] for one in result["tests"])
    body.append(["all", "", str(len(result["tests"])), percent(result["mean_error"]), percent(worst), "",
                 percent(other["mean_error"]), "", percent(ernest)])  # fmt: skip
    return table(["test", "left out", "tests", "chosen", "worst network", "inside", "with operators", "best in hindsight", "Ernest"], body, 2)


def tests(result: dict) -> list[str]:
    body = [[f"`{one['workload'].partition(',cpu')[0]}`", one["kind"], one["variable"], f"{one['train_rows']:.0f}",
             f"{one['test_rows']:.0f}", percent(one["error"]), one["chosen"], percent(one["methods"]["ernest"])]
            for one in result["tests"]]  # fmt: skip
    return table(["model", "test", "left out", "learned from", "tested", "error", "chosen", "Ernest"], body, 3)


def amounts(results: dict[str, dict]) -> list[str]:
    body = []
    for amount, result in results.items():
        for kind in ("interpolation", "extrapolation"):
            own = [one for one in result["summary"] if one["kind"] == kind]
            body.append([AMOUNTS[amount], kind, *(next((percent(one["error"]) for one in own if one["variable"] == name), "-")
                                                  for name in ("samples", "workers", "cores", "together"))])  # fmt: skip
    return table(["of", "test", "samples", "workers", "cores", "together"], body, 2)


# ---- the cheapest number of workers for a deadline ----


def tested(path: pathlib.Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cheapest(times: dict[int, float], deadline: float) -> int | None:
    """A worker-second costs the same everywhere: the fewest of them among those that end in time."""
    good = [workers for workers, time in times.items() if time <= deadline]
    return min(good, key=lambda workers: workers * times[workers], default=None)


def deadlines(rows: list[dict[str, str]]) -> list[str]:
    """Data sets larger than all that were learned from, workers alike in cores and batch: by forecast and in hindsight."""
    body = []
    larger = [row for row in rows if row["kind"] == "extrapolation" and row["variable"] == "samples"]
    for name in dict.fromkeys(row["workload"] for row in larger):
        own = [row for row in larger if row["workload"] == name]
        usual = Counter((row["cores_value"], row["batch_value"]) for row in own).most_common(1)[0][0]
        own = [row for row in own if (row["cores_value"], row["batch_value"]) == usual]
        for samples in sorted({row["samples_value"] for row in own}, key=float):
            there = [row for row in own if row["samples_value"] == samples]
            measured, forecast = ({int(float(w)): mean([float(r[key]) for r in there if r["workers_value"] == w])
                                   for w in sorted({row["workers_value"] for row in there}, key=float)}
                                  for key in ("measured_s", "predicted_s"))  # fmt: skip
            for limit in sorted(measured.values()):
                deadline = 1.1 * limit
                said, best = cheapest(forecast, deadline), cheapest(measured, deadline)
                if said is None or best is None:
                    extra, late = "-", "-"
                else:
                    extra = percent(said * measured[said] / (best * measured[best]) - 1)
                    late = "yes" if measured[said] <= deadline else f"no, {measured[said]:.2f} s"
                body.append([f"`{name.partition(',cpu')[0]}`", f"{float(samples):.0f}", f"{deadline:.2f} s", str(said or "none"),
                             str(best or "none"), late, extra])  # fmt: skip
    return table(["model", "samples", "deadline", "forecast says", "was best", "in time", "costs more"], body, 1)


def page(rows: list[dict[str, str]], disturbed: int, results: dict[str, dict], with_operators: dict, alike: dict, plain: float,
         points: list[dict[str, str]]) -> list[str]:  # fmt: skip
    workers = sorted({int(row["workers"]) for row in rows})
    busy = mean([float(row["load_before"]) for row in rows])
    stolen = [float(row["stolen_s"]) / float(row["train_s"]) for row in rows]
    return ["# Training on Ray: measured and forecast", "",
            "Written by `make ray-report`; do not edit. [Ray](ray.md) says how it was measured, [Scaling models](scaling.md) what the methods are.", "",
            "## What was measured", "",
            f"{len(rows)} runs of `TorchTrainer` on a Ray cluster of a head and four nodes, all on one virtual machine of two cores, each in "
            f"namespaces of its own behind a link of 1 Gbit/s. {workers[0]} to {workers[-1]} workers, one on a node, held to their share of a core; "
            f"shares sum to less than two. What else the machine did had the lowest priority ({busy:.1f} cores were in use just before a run, on "
            f"average) and took memory bandwidth at most. An epoch counts as its steps times the median step. Runs from which the machine's own "
            f"host took more than a tenth of a core count as disturbed and take no part: {disturbed or 'none'} here; the others lost "
            f"{percent(mean(stolen))} of a core on average.", "",
            *per_model(rows), "", "How far two repeats of a configuration lie from their mean; a forecast that knew the true mean would be off by 1.4 times as much. "
            "Differences below that mean nothing. Of memory without the first job of each process, which is charged with what libraries take once.", "", *noise(rows), "",
            "## Forecasts of time", "",
            "Interpolation: every third value of a variable is left out, never the first or the last. Extrapolation: the highest third of its "
            "values is left out; of four or five values that is one, 1.33 times the greatest number of samples or workers that is learned from and 1.17 "
            "times the cores. Together: rows left out in two or more variables are tested, those left out in none are learned from. What is "
            "chosen is chosen by the rows learned from alone, by five folds of them and, to extrapolate, by their own highest sixth, third and half too; that rule and the method "
            "`costs` were settled with a part of these runs in view. Errors are means of |predicted / measured - 1| over the rows of a test, then over networks. *Inside*: rows in their 90 % "
            "interval, where enough rows were left out to make one. *With operators*: the operator engine's time corrected by the runs; without any run it is "
            f"off by {percent(plain)} here, since nothing is known of this machine. Ernest's law knows neither cores nor batches, which vary here; on the rows "
            f"with 0.3 cores and batches of 8 alone, samples and workers left out, it is {percent(mean([one['methods']['ernest'] for one in alike['tests']]))} off "
            f"and what is chosen {percent(alike['mean_error'])}.", "",
            *summary(results["epoch_s"], with_operators), "", *tests(results["epoch_s"]), "", f"![extrapolated epochs]({PICTURE})", "",
            "## Forecasts of resources", "", *amounts(results), "",
            "## The cheapest number of workers for a deadline", "",
            "Forecasts of data sets that are larger than all learned from. The deadline is what some number of workers took, and a tenth more; a "
            "worker costs the same per second wherever it runs. These jobs scale so regularly that a rule of three finds the same; the table shows that the "
            "forecast spoils nothing. `foretrain predict … --vary workers=1,2,3,4 --deadline 10m` asks the same of one job.", "",
            *deadlines(points), ""]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("docs", type=pathlib.Path)
    given = parser.parse_args()
    rows, disturbed = rows_of(given.folder, "ok"), len(rows_of(given.folder, "disturbed"))
    flat = str(given.folder / "ray.csv")
    with tempfile.TemporaryDirectory() as work:
        points = pathlib.Path(work, "rows.csv")
        results = {}
        for amount in AMOUNTS:
            used = pathlib.Path(work, "used.csv")
            write_rows(used, [row for row in rows if counts(row, amount)])
            words = ["--data", str(used), "--columns", f"time={amount},{VARIABLES}", "--time", "epoch"]
            results[amount] = fit(given.program, words + (["--rows", str(points)] if amount == "epoch_s" else []))
        with_operators = fit(given.program, ["--data", str(given.folder / "runs.csv"), "--time", "epoch", "--with", "operators"])
        alike = fit(given.program, ["--data", flat, "--where", "status=ok", "--where", "cpus=0.3", "--where", "batch=8", "--columns",
                                    "time=epoch_s,model=model,samples=samples,workers=workers", "--time", "epoch"])  # fmt: skip
        plain = plain_error(given.program, given.folder / "runs.csv")
        found = tested(points)
        series: dict[str, list[tuple[float, float]]] = {}
        for row in found:
            if row["kind"] == "extrapolation":
                series.setdefault(row["workload"].partition(":")[0], []).append((float(row["measured_s"]), float(row["predicted_s"])))
        accuracy_plot.write(given.docs / PICTURE, series, "epoch")
    (given.docs / "ray_tests.md").write_text(wrap("\n".join(page(rows, disturbed, results, with_operators, alike, plain, found))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

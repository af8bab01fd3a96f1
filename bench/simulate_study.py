# SPDX-License-Identifier: Apache-2.0
"""What predictions buy a scheduler, on published traces: simulate_study.py PROGRAM DATA PAGE

Writes PAGE, a Markdown page: completion times of policies that know nothing, of policies that are
told our predictions, the truth, and the truth with an error.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

CLUSTER = "8x8"  # the Muri authors' 64 V100
MURI = ("muri_cluster_trace", "muri_trace1", "muri_trace2", "muri_trace3", "muri_trace4")
WITHOUT_MODEL = {"a2c", "dqn"}  # reinforcement learning: no model of the zoo
BLIND = ("fifo", "backfill", "dlas-gpu")
TOLD = ("easy", "sjf", "srtf", "srgt")
ERRORS = (0, 0.2, 0.4, 0.6, 0.8, 1)
SEEDS = 3
GAINS = []  # of each trace: what our predictions gain over dlas-gpu, of what the truth would


def simulate(program, trace, cluster, policies, *options):
    """Mean completion time in hours of each policy, over the seeds."""
    command = [program, "simulate", trace, "--cluster", cluster, "--sweep", ",".join(policies), "--json", *options]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    times = {}
    for one in json.loads(run.stdout)["runs"]:
        times.setdefault(one["policy"], []).append(one["jct_s"]["mean"] / 3600)
    return {policy: statistics.mean(values) for policy, values in times.items()}


def with_models(source, folder):
    """The trace without the jobs that the engine cannot predict; how many stay, of how many."""
    path = os.path.join(folder, os.path.basename(source))
    with open(source, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
        kept = [row for row in rows if row["model_name"] not in WITHOUT_MODEL]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, reader.fieldnames)
        writer.writeheader()
        writer.writerows(kept)
    return path, len(kept), len(rows)


def prediction_errors(program, trace):
    """|predicted / measured - 1| of every job's duration, on an empty cluster."""
    def durations(how):
        command = [program, "simulate", trace, "--cluster", "9999x8", "--durations", how, "--jobs", "-",
                   "--placement", "best-fit"]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        return {row["job"]: float(row["end_s"]) - float(row["start_s"])
                for row in csv.DictReader(run.stdout.splitlines())}
    measured, predicted = durations("trace"), durations("engine")
    return [abs(predicted[job] / time - 1) for job, time in measured.items() if time > 0]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def hours(times, policies):
    return [f"{times[policy]:.2f}" for policy in policies]


def knowledge_rows(program, data, folder):
    for name in MURI:
        trace, kept, count = with_models(os.path.join(data, "traces", name + ".csv"), folder)
        errors = prediction_errors(program, trace)
        blind = simulate(program, trace, CLUSTER, BLIND)
        engine = simulate(program, trace, CLUSTER, TOLD, "--predictions", "engine")
        exact = simulate(program, trace, CLUSTER, TOLD)
        GAINS.append((blind["dlas-gpu"] - engine["srtf"]) / (blind["dlas-gpu"] - exact["srtf"]))
        yield ([f"{name} ({kept} of {count})", f"{100 * statistics.median(errors):.0f} %"] + hours(blind, BLIND)
               + [f"{engine[policy]:.2f} / {exact[policy]:.2f}" for policy in TOLD])


def error_rows(program, data):
    for name, file, cluster in (("Philly, 480 GPUs", "philly_pollux", "60x8"), ("muri_trace2, 64 GPUs", "muri_trace2", CLUSTER)):
        trace = os.path.join(data, "traces", file + ".csv")
        blind = simulate(program, trace, cluster, BLIND)
        yield [name, "told nothing: " + ", ".join(f"{p} {t}" for p, t in zip(BLIND, hours(blind, BLIND)))] + [""] * len(TOLD)
        for error in ERRORS:
            seeds = SEEDS if error > 0 else 1
            times = simulate(program, trace, cluster, TOLD, "--prediction-error", str(error), "--seeds", str(seeds))
            yield ["", f"±{100 * error:.0f} %"] + hours(times, TOLD)


def page(program, data):
    with tempfile.TemporaryDirectory() as folder:
        known = list(knowledge_rows(program, data, folder))
    return "\n".join([
        "# What predictions buy a scheduler",
        "",
        "`make study DATA=dir` writes this page. Mean completion times in hours; preemption is free, any free",
        "devices will do, jobs take the durations of their trace. [simulator.md](simulator.md) describes the policies.",
        "",
        "## Nothing, our predictions, the truth",
        "",
        "Muri's traces on 64 V100, without the jobs whose model the zoo does not have. `fifo`, `backfill` and `dlas-gpu`",
        "know nothing about durations. The others are told what the engine predicts from model, batch, steps and",
        "loading rate / what will happen. The second column is the median error of the predicted durations.",
        "",
        *table(["trace (jobs)", "error", *BLIND], [row[: 2 + len(BLIND)] for row in known]),
        "",
        *table(["trace (jobs)", *(f"{p}: ours / truth" for p in TOLD)], [row[:1] + row[2 + len(BLIND) :] for row in known]),
        "",
        f"Over `dlas-gpu`, the best that knows nothing, `srtf` with our predictions gains {100 * min(GAINS):.0f} to "
        f"{100 * max(GAINS):.0f} % of",
        "what it gains with the truth: the order of jobs matters more than their exact durations.",
        "",
        "## Wrong predictions",
        "",
        f"Policies are told the truth times 1 ± up to the error, each job its own; means of {SEEDS} seeds.",
        "`easy` keeps its reservations only where predictions are not too short: a job that outlives its prediction",
        "makes the reserved devices seem free at any moment, others go ahead, and large jobs wait as under `backfill`.",
        "",
        *table(["trace", "error", *TOLD], error_rows(program, data)),
        ""])


def main():
    program, data, target = sys.argv[1:4]
    text = page(os.path.abspath(program), data)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    print(text)


if __name__ == "__main__":
    main()

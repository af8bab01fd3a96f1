# SPDX-License-Identifier: Apache-2.0
"""Compares the simulator with published answers: simulate_reference.py PROGRAM DATA

DATA/traces/reference.csv gives trace, cluster, policy and what the policy's authors' simulator
says. Prints both and exits with 1 where they differ in a printed digit.
"""
import csv
import json
import os
import subprocess
import sys

# Their names are ours, except where ours mean something else (docs/simulator.md).
OURS = {"sjf": "tiresias-sjf"}


def simulate(program, trace, cluster, policy):
    run = subprocess.run([program, "simulate", trace, "--cluster", cluster, "--policy", policy, "--json"],
                         check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def differences(row, answer):
    expected = {"mean_jct_s": answer["jct_s"]["mean"], "median_jct_s": answer["jct_s"]["median"],
                "makespan_s": answer["makespan_s"], "preemptions": answer["preemptions"]}
    return {key: value for key, value in expected.items() if round(value, 3) != float(row[key])}


def main():
    program, data = sys.argv[1:3]
    folder = os.path.join(data, "traces")
    wrong = 0
    with open(os.path.join(folder, "reference.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        policy = OURS.get(row["policy"], row["policy"])
        cluster = f"{row['nodes']}x{row['gpus_per_node']}"
        found = differences(row, simulate(program, os.path.join(folder, row["trace"]), cluster, policy))
        wrong += bool(found)
        verdict = ", ".join(f"{key} {value} instead of {row[key]}" for key, value in found.items())
        print(f"{row['trace']:24} {cluster:5} {policy:14} {verdict or 'equal'}")
    print(f"{len(rows) - wrong} of {len(rows)} equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Prints what simulating costs as the number of jobs grows: simulate_bench.py PROGRAM [DATA]

CPU seconds of one core and peak memory for generated jobs on 2,080 devices; with DATA also for the
Philly trace.
"""
import os
import subprocess
import sys

CLUSTER = "260x8"
POLICIES = ("fifo", "srtf", "dlas-gpu")
COUNTS = (125_000, 250_000, 500_000, 1_000_000)


def cost(program, trace, cluster, policy):
    """CPU seconds and peak MiB of one simulation."""
    command = [program, "simulate", trace, "--cluster", cluster, "--policy", policy, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def show(name, trace, program, cluster=CLUSTER):
    cells = []
    for policy in POLICIES:
        seconds, mebibytes = cost(program, trace, cluster, policy)
        cells.append(f"{policy} {seconds:6.2f} s {mebibytes:5.0f} MiB")
    print(f"simulate {name:24} " + "   ".join(cells), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    for count in COUNTS:
        show(f"{count} jobs", f"generate:jobs={count},load=0.9,sigma=1", program)
    if len(sys.argv) > 2:
        philly = os.path.join(sys.argv[2], "traces", "philly_pollux.csv")
        show("Philly, 2080 GPUs", philly, program)
        show("Philly, 480 GPUs", philly, program, "60x8")


if __name__ == "__main__":
    main()

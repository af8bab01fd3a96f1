# SPDX-License-Identifier: Apache-2.0
"""What exchanging gradients costs a CPU that computes meanwhile, from runs of the lab.

    python3 tools/sharing_cost.py PROGRAM RUNS.csv

PROGRAM is foretrain, which tells how many parameter tensors a model has. For each setting: the part of a
step that is neither exposed synchronisation nor in the step without communication, as so much per
gradient and per byte of it (least squares, relative to the step). Runs of the test split are left out.
"""
import argparse
import collections
import functools
import json
import pathlib
import subprocess

import lab_data


@functools.cache
def tensors(program: str, model: str) -> int:
    text = subprocess.run([program, "graph", model, "--ftg", "-"], check=True, capture_output=True, text=True).stdout
    return sum(tensor.get("role") == "parameter" for tensor in json.loads(text)["tensors"])


def least_squares(points: list[tuple[float, float, float]]) -> tuple[float, float]:
    """a and b of the nearest y = a x1 + b x2, from (x1, x2, y)."""
    s11 = sum(x * x for x, _, _ in points)
    s12 = sum(x * z for x, z, _ in points)
    s22 = sum(z * z for _, z, _ in points)
    t1 = sum(x * y for x, _, y in points)
    t2 = sum(z * y for _, z, y in points)
    determinant = s11 * s22 - s12 * s12
    return (t1 * s22 - t2 * s12) / determinant, (s11 * t2 - s12 * t1) / determinant


def point(run: lab_data.Run, count: int) -> tuple[float, float, float]:
    step = run.numbers["step_median_s"]
    rest = step - run.numbers["exposed_sync_s"] - run.numbers["compute_s"]
    return count / step, 4 * run.numbers["parameters"] / step, rest / step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("runs", type=pathlib.Path)
    options = parser.parse_args()
    settings = collections.defaultdict(list)
    for row in lab_data.rows(options.runs):
        if row["status"] != "ok" or row["wall_s"] or row["split"] == "test":
            continue
        run = lab_data.read_run(row)
        if "compute_s" in run.numbers:
            model = json.loads(run.configuration)["model"]
            settings[run.setting].append(point(run, tensors(options.program, model)))
    print("setting           runs  us per gradient  ns per byte")
    for setting, points in sorted(settings.items()):
        gradient, byte = least_squares(points)
        print(f"{setting:16}  {len(points):4}  {gradient * 1e6:15.0f}  {byte * 1e9:11.2f}")


if __name__ == "__main__":
    main()

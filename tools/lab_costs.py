# SPDX-License-Identifier: Apache-2.0
"""What a step on a CPU has beyond its operators, from runs of the lab.

    python3 tools/lab_costs.py PROGRAM RUNS.csv

PROGRAM is foretrain, which tells a model's tensors. First, for each setting, the part of a step that is
neither exposed synchronisation nor in the step without communication, as so much per gradient and per
byte of it (least squares, relative to the step). Then memory whose pages are new in each step, as a share
of the tensors that the step writes. Runs of the test split are left out.
"""
import argparse
import collections
import functools
import json
import pathlib
import subprocess

import lab_data

LARGE_BYTES = 25e6  # kFreshBytes in foretrain/cost/cpu.cc: always new


@functools.cache
def model(program: str, name: str, batch: int) -> dict:
    command = [program, "graph", name, "--batch", str(batch), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@functools.cache
def tensors(program: str, name: str) -> int:
    text = subprocess.run([program, "graph", name, "--ftg", "-"], check=True, capture_output=True, text=True).stdout
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


def written_bytes(nodes: list[dict]) -> tuple[float, float]:
    """Of all tensors that the nodes write, and of the large ones among them."""
    sizes = [4 * functools.reduce(lambda a, b: a * b, shape, 1) for node in nodes for shape in node["outputs"]]
    return sum(sizes), sum(size for size in sizes if size > LARGE_BYTES)


def print_sharing(program: str, runs: list[lab_data.Run]) -> None:
    settings = collections.defaultdict(list)
    for run in runs:
        if "compute_s" in run.numbers:
            name = json.loads(run.configuration)["model"]
            settings[run.setting].append(point(run, tensors(program, name)))
    print("setting           runs  us per gradient  ns per byte")
    for setting, points in sorted(settings.items()):
        gradient, byte = least_squares(points)
        print(f"{setting:16}  {len(points):4}  {gradient * 1e6:15.0f}  {byte * 1e9:11.2f}")


def print_new_pages(program: str, runs: list[lab_data.Run]) -> None:
    shares = collections.defaultdict(list)
    for run in runs:
        if "new_page_bytes" not in run.numbers:
            continue
        what = json.loads(run.configuration)
        written, large = written_bytes(model(program, what["model"], what["batch"])["nodes"])
        group = "of all, where none is large" if large == 0 else "of the large ones, where some are"
        shares[group].append(run.numbers["new_page_bytes"] / (large or written))
    print("tensors that a step writes           runs  new pages, share of their bytes (10, 50, 90 %)")
    for group, found in sorted(shares.items()):
        low, middle, high = (lab_data.quantile(found, q) for q in (0.1, 0.5, 0.9))
        print(f"{group:35}  {len(found):4}  {low:.2f} {middle:.2f} {high:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("runs", type=pathlib.Path)
    options = parser.parse_args()
    kept = [row for row in lab_data.rows(options.runs)
            if row["status"] == "ok" and not row["wall_s"] and row["split"] != "test"]  # fmt: skip
    runs = [lab_data.read_run(row) for row in kept]
    print_sharing(options.program, runs)
    print_new_pages(options.program, runs)


if __name__ == "__main__":
    main()

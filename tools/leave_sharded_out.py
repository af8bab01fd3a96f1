# SPDX-License-Identifier: Apache-2.0
"""Prints errors of sharded steps that the constants of sharding were not fitted on.

    python3 tools/leave_sharded_out.py PROGRAM DATA/training/mosaicml.csv

Fits `PROGRAM fit exchange` to the runs on 8 GPUs and evaluates the larger ones by GPU; then to models of up to 3B
parameters and evaluates the larger models.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

METRIC = "step_time_derived"
SMALL = {"MPT-125m", "MPT-350m", "MPT-760m", "MPT-1b", "MPT-3b"}


def on_one_node(row: dict) -> bool:
    return row["gpus"] == "8"


def is_small(row: dict) -> bool:
    return row["model"] in SMALL


# What is fitted, and the parts of the rest that are scored.
SPLITS = [
    ("8 GPUs", on_one_node, {
        "A100, more GPUs": lambda row: not on_one_node(row) and "A100" in row["gpu"],
        "H100, more GPUs": lambda row: not on_one_node(row) and "H100" in row["gpu"],
    }),
    ("models up to 3B", is_small, {"larger models": lambda row: not is_small(row)}),
]


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_rows(rows: list[dict], keep, out: pathlib.Path) -> None:
    """The file keeps its name, by which its mapping is found."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as result:
        writer = csv.DictWriter(result, rows[0].keys())
        writer.writeheader()
        writer.writerows(row for row in rows if row["metric"] == METRIC and keep(row))


def measure(program: str, file: pathlib.Path) -> list[tuple[str, str, dict]]:
    """Fitted on, scored on, the evaluation's total."""
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        data, fitted = pathlib.Path(folder, file.name), str(pathlib.Path(folder, "fitted.json"))
        for name, known, parts in SPLITS:
            write_rows(rows, known, data)
            run(program, "fit", "exchange", "--data", str(data), "-o", fitted)
            for part, unknown in parts.items():
                write_rows(rows, unknown, data)
                answer = run(program, "evaluate", "--data", str(data), "--count-refused", "--json", "--predictor", fitted)
                results.append((name, part, json.loads(answer)["total"]))
    return results


def table(results: list[tuple[str, str, dict]]) -> str:
    lines = ["| fitted on | scored on | steps | MAPE | bias |", "|---|---|---:|---:|---:|"]
    for name, part, total in results:
        lines.append(f"| {name} | {part} | {total['rows']} | {total['mape_percent']:.1f} % | {total['bias_percent']:+.1f} % |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    print(table(measure(arguments.program, arguments.file)))


if __name__ == "__main__":
    main()

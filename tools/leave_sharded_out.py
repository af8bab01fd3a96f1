# SPDX-License-Identifier: Apache-2.0
"""Prints errors of sharded steps that the constants in use were not fitted on.

    python3 tools/leave_sharded_out.py PROGRAM DATA/training/mosaicml.csv
    python3 tools/leave_sharded_out.py PROGRAM DATA/training/vtrain_single_node.csv

mosaicml: fits `PROGRAM fit exchange` to the runs on 8 GPUs and evaluates the larger ones by GPU; then to models of up
to 3B parameters and evaluates the larger models. vtrain_single_node: for each hidden size fits `PROGRAM fit framework
megatron` to the other sizes and evaluates its steps.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import tempfile

SMALL = {"MPT-125m", "MPT-350m", "MPT-760m", "MPT-1b", "MPT-3b"}


def on_one_node(row: dict) -> bool:
    return row["gpus"] == "8"


def is_small(row: dict) -> bool:
    return row["model"] in SMALL


def hidden_of(row: dict) -> int:
    return int(re.search(r"hidden=([0-9]+)", row["notes"]).group(1))


# What is fitted, and the parts of the rest that are scored.
MOSAICML = [
    ("8 GPUs", on_one_node, {
        "A100, more GPUs": lambda row: not on_one_node(row) and "A100" in row["gpu"],
        "H100, more GPUs": lambda row: not on_one_node(row) and "H100" in row["gpu"],
    }),
    ("models up to 3B", is_small, {"larger models": lambda row: not is_small(row)}),
]


def splits_by_hidden(rows: list[dict]) -> list[tuple]:
    sizes = sorted({hidden_of(row) for row in rows})
    return [("other hidden sizes", lambda row, size=size: hidden_of(row) != size,
             {f"hidden {size}": lambda row, size=size: hidden_of(row) == size}) for size in sizes]


# Of each file: the metric, what `fit` fits, and the splits of its rows.
FILES = {
    "mosaicml": ("step_time_derived", ["exchange"], lambda rows: MOSAICML),
    "vtrain_single_node": ("iteration_time", ["framework", "megatron", "--rows", "100"], splits_by_hidden),
}


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_rows(rows: list[dict], metric: str, keep, out: pathlib.Path) -> None:
    """The file keeps its name, by which its mapping is found."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as result:
        writer = csv.DictWriter(result, rows[0].keys())
        writer.writeheader()
        writer.writerows(row for row in rows if row["metric"] == metric and keep(row))


def measure(program: str, file: pathlib.Path) -> list[tuple[str, str, dict]]:
    """Fitted on, scored on, the evaluation's total."""
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    metric, fit, splits = FILES[file.stem]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        data, fitted = pathlib.Path(folder, file.name), str(pathlib.Path(folder, "fitted.json"))
        for name, known, parts in splits(rows):
            write_rows(rows, metric, known, data)
            run(program, "fit", *fit, "--data", str(data), "-o", fitted)
            for part, unknown in parts.items():
                write_rows(rows, metric, unknown, data)
                answer = run(program, "evaluate", "--data", str(data), "--count-refused", "--json", "--predictor", fitted)
                results.append((name, part, json.loads(answer)["total"]))
    return results


def table(results: list[tuple[str, str, dict]]) -> str:
    lines = ["| fitted on | scored on | steps | MAPE | bias |", "|---|---|---:|---:|---:|"]
    for name, part, total in results:
        lines.append(f"| {name} | {part} | {total['rows']} | {total['mape_percent']:.1f} % | {total['bias_percent']:+.1f} % |")
    if len({name for name, _, _ in results}) == 1:  # parts of all rows
        rows = sum(total["rows"] for _, _, total in results)
        mean = {key: sum(total[key] * total["rows"] for _, _, total in results) / rows
                for key in ("mape_percent", "bias_percent")}
        lines.append(f"| | all | {rows} | {mean['mape_percent']:.1f} % | {mean['bias_percent']:+.1f} % |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.file.stem not in FILES:
        parser.error(f"{arguments.file.name}: known are {', '.join(FILES)}")
    print(table(measure(arguments.program, arguments.file)))


if __name__ == "__main__":
    main()

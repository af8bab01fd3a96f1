# SPDX-License-Identifier: Apache-2.0
"""Writes docs/leave_model_out.md: steps of models whose framework was fitted on the other models.

    python3 tools/leave_model_out.py PROGRAM DATA/training/pollux.csv OUT

For each model of the file: `PROGRAM fit framework adaptdl --without MODEL`, then `PROGRAM evaluate`
with what was found on the rows of that model alone, without and with calibration by its own runs.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

from wrap_docs import wrap
from write_accuracy import percent, table

FRAMEWORK = "adaptdl"
METRIC = "step_time"
POINTS = [0, 1, 3, 10]


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def models_of(file: pathlib.Path) -> list[str]:
    with file.open(newline="", encoding="utf-8") as lines:
        return sorted({row["model"] for row in csv.DictReader(lines)})


def write_rows_of(model: str, file: pathlib.Path, out: pathlib.Path) -> None:
    """The measured steps of one model; the file keeps its name, by which its mapping is found."""
    with file.open(newline="", encoding="utf-8") as lines, out.open("w", newline="", encoding="utf-8") as result:
        reader = csv.DictReader(lines)
        writer = csv.DictWriter(result, reader.fieldnames)
        writer.writeheader()
        writer.writerows(row for row in reader if row["model"] == model and row["metric"] == METRIC)


def score(program: str, data: pathlib.Path, points: int, *more: str) -> dict:
    """The total of an evaluation, with that many calibration runs."""
    calibration = ["--calibrate", str(points), "--calibrate-by", "model", "--calibrate-usual", "0.1"] if points else []
    return json.loads(run(program, "evaluate", "--data", str(data), "--count-refused", "--json", *calibration, *more))["total"]


def measure(program: str, file: pathlib.Path) -> dict[str, list[dict]]:
    """For each model its scores: as shipped, then left out of the fit with each of POINTS."""
    scores = {}
    with tempfile.TemporaryDirectory() as folder:
        own, fitted = pathlib.Path(folder, file.name), str(pathlib.Path(folder, "fitted.json"))
        for model in models_of(file):
            run(program, "fit", "framework", FRAMEWORK, "--data", str(file), "--without", model, "-o", fitted)
            write_rows_of(model, file, own)
            scores[model] = [score(program, own, 0)]
            scores[model] += [score(program, own, points, "--predictor", fitted) for points in POINTS]
    return scores


def mean_error(scores: list[dict]) -> float:
    """Over the rows of all models, in percent."""
    counted = [one["predicted"] + one["refused"] for one in scores]
    return sum(n * one["mape_percent"] for n, one in zip(counted, scores)) / sum(counted)


def page(scores: dict[str, list[dict]]) -> str:
    rows = [[model, f"{own[0]['rows']:,}", percent(own[0]["mape_percent"]), percent(own[1]["mape_percent"]),
             percent(own[1]["bias_percent"], "+"), *(percent(one["mape_percent"]) for one in own[2:])]
            for model, own in scores.items()]
    columns = [mean_error([own[i] for own in scores.values()]) for i in range(1 + len(POINTS))]
    rows.append(["all rows", f"{sum(own[0]['rows'] for own in scores.values()):,}", percent(columns[0]),
                 percent(columns[1]), "", *(percent(one) for one in columns[2:])])
    header = ["model", "rows", "shipped constants", "left out", "bias", *(f"+ {n} runs" for n in POINTS[1:])]
    return "\n".join([
        "# Leave one model out", "",
        "Training steps of the Pollux data (PyTorch with AdaptDL, 1 to 64 T4 on cloud nodes), mean absolute percentage error.",
        "`make leave-model-out DATA=dir` writes this page.", "",
        *table(header, rows, 1), "",
        "*Shipped constants*: AdaptDL's costs as shipped, chosen with all six models in view. *Left out*: `foretrain fit framework adaptdl --without MODEL`",
        "finds them from the other five (20 steps of each), and the model is then predicted from graph, datasheet and network description. *+ n runs*: in addition",
        "`evaluate --calibrate n --calibrate-by model` finds factors of compute, memory, host and network by n of the model's own runs, which are not scored; the machine being known, `--calibrate-usual 0.1`.", "",
        "Not left out, but the same in all columns: the network's description with its rates by the number of nodes, that YOLOv3's exchanges between nodes do not overlap",
        "backward, what devices of a node cost each other, the hosts' speed with and without apex O1, the lengths of DeepSpeech2's samples; and what AdaptDL does with gradients, which is counted in",
        "its source. Where the fit of AdaptDL's times starts was known from all six models; it may move by a factor of e at two standard deviations.", "",
    ])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    text = wrap(page(measure(arguments.program, arguments.file)))
    arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Errors on what was left out of the fit: GPUs and families of models, one after another.

    python3 tools/leave_out.py PROGRAM DATA OUT [--generations]

fits with `PROGRAM fit operators --without ...`, always from data/predictors/operators_prior.json, evaluates
what was left out, prints the tables and writes them to OUT (docs/leave_out.md; - writes nothing). With --generations
it is one table alone, of whole generations of GPUs.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile

from wrap_docs import wrap

PRIOR = pathlib.Path(__file__).resolve().parent.parent / "data/predictors/operators_prior.json"
CONV_DEVICES = ["p4", "p100-pcie-16gb", "v100-pcie-32gb", "t4", "a100-pcie-80gb"]
UNSEEN = ["l4", "a100-pcie-80gb"]  # only in test rows
STEP_DEVICES = {"rtx-2080-ti": "rtx-2080-ti", "titan-rtx": "titan-rtx", "titan-xp": "titan-xp",
                "a100-sxm4-40gb": "a100*"}  # and what a fit leaves out for it, operators too
FAMILIES = ["densenet", "mnasnet", "mobilenet", "resnet", "resnext", "shufflenet", "squeezenet", "vgg"]
# Generations that are left out: what of, which devices a fit does not see, which of them are scored, on which operators.
GENERATIONS = [
    ("Ampere from Pascal, Volta and Turing", "a100*", ["a100-pcie-40gb", "a100-pcie-80gb"], "neusight_gemm.csv"),
    ("Ada from Ampere and older", "l4", ["l4"], "neusight_gemm.csv"),
    ("AMD from NVIDIA", "mi*", ["mi100", "mi210"], "neusight_gemm.csv"),
    ("Hopper from Ampere", "gh200", ["gh200"], "ett_llm.csv"),
]
RUNS = 4  # that show how fast a machine's host is
OPERATOR_EVALUATIONS = 1500
STEP_EVALUATIONS = 450


class Runner:
    def __init__(self, program: str, folder: pathlib.Path):
        self.program = program
        self.folder = folder

    def fit(self, name: str, *options: str) -> str:
        output = str(self.folder / f"{name}.json")
        subprocess.run([self.program, "fit", "operators", "-o", output, *options],
                       check=True, stdout=subprocess.DEVNULL)
        return output

    def evaluate(self, data: str, predictor: str, *options: str) -> list[dict]:
        done = subprocess.run([self.program, "evaluate", "--data", data, "--predictor", predictor, "--json",
                               "--count-refused", *options], check=True, stdout=subprocess.PIPE, text=True)
        return [group for group in json.loads(done.stdout)["groups"] if group.get("mape_percent") is not None]


def folder_with(source: pathlib.Path, folder: pathlib.Path) -> str:
    """A folder that has only this file of measurements."""
    folder.mkdir(exist_ok=True)
    (folder / source.name).symlink_to(source.resolve())
    return str(folder)


def for_each(names: list[str], work) -> list:
    """work(name) of each, as many at once as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, names))


def mean(groups: list[dict]) -> float:
    """Over rows."""
    rows = sum(group["rows"] for group in groups)
    return sum(group["mape_percent"] * group["rows"] for group in groups) / rows


def average(values: list[float]) -> float:
    return sum(values) / len(values)


def table(header: list[str], rows: list[list]) -> list[str]:
    """The first column holds text, the others errors in per cent."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    text = [[row[0], *(f"{value:.1f}" for value in row[1:])] for row in rows]
    return ["| " + " | ".join(cells) + " |" for cells in [header, rule, *text]]


def convolutions(runner: Runner, operators: pathlib.Path) -> list[str]:
    data = folder_with(operators / "neusight_conv.csv", runner.folder / "conv")
    def error(device: str) -> list:
        predictor = runner.fit(f"conv-{device}", "--data", data, "--start", str(PRIOR), "--without", device,
                               "--evaluations", str(OPERATOR_EVALUATIONS))
        groups = runner.evaluate(data, predictor, "--by", "device")
        return [device, mean([group for group in groups if group["device"] == device])]

    rows = for_each(CONV_DEVICES, error)
    rows.append(["mean", average([row[1] for row in rows])])
    return table(["GPU left out", "error, %"], rows)


def products(runner: Runner, operators: pathlib.Path, predictor: str) -> list[str]:
    data = folder_with(operators / "neusight_gemm.csv", runner.folder / "gemm")
    groups = runner.evaluate(data, predictor, "--by", "device,metric")
    found = [group for group in groups if group["device"] in UNSEEN and group["metric"].endswith(", test")]
    rows = [[f"{group['device']}, {group['metric'].removesuffix(', test')}", group["mape_percent"]] for group in found]
    rows.append(["all rows", mean(found)])
    return table(["GPU that is in no fit", "error, %"], rows)


def generations(runner: Runner, operators: pathlib.Path) -> list[str]:
    """GEMMs (of the test split where there is one) and operators of language models on whole generations of GPUs."""
    def error(place: int) -> list:
        name, without, devices, file = GENERATIONS[place]
        predictor = runner.fit(f"generation-{place}", "--data", str(operators), "--start", str(PRIOR), "--without", without,
                               "--evaluations", str(OPERATOR_EVALUATIONS))
        groups = runner.evaluate(str(operators / file), predictor, "--by", "device,metric")
        own = [group for group in groups if group["device"] in devices and not group["metric"].endswith(", train")]
        return [f"{name} ({file.removesuffix('.csv')})", mean(own)]

    rows = for_each(list(range(len(GENERATIONS))), error)
    rows.append(["mean", average([row[1] for row in rows])])
    return table(["generation left out", "error, %"], rows)


def generations_page(runner: Runner, data: pathlib.Path) -> str:
    return "\n".join([
        "# Errors on generations of GPUs that were left out", "",
        "`make leave-generations-out DATA=dir` prints this. Mean absolute errors in per cent of single operators; no row of the",
        "generation was in the fit. Where the fit starts, data/predictors/operators_prior.json, was chosen with all rows in view.", "",
        *generations(runner, data / "operators"), ""])


def one_gpu_steps(source: pathlib.Path, target: pathlib.Path, family: str = "") -> None:
    """The steps of one GPU in 32 bits (TF32 on the A100) and 16 bits, of one family if it is named."""
    with source.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = [row for row in reader if row["gpus"] == "1" and row["precision"] in ("FP32", "FP16")
                and family in ("", family_of(row["model"]))]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, reader.fieldnames)
        writer.writeheader()
        writer.writerows(rows)


def family_of(model: str) -> str:
    """resnet with wide_resnet; resnext, whose convolutions have groups, is another."""
    plain = model.removeprefix("wide_")
    return next((family for family in FAMILIES if plain.startswith(family)), plain)


def by_precision(groups: list[dict], device: str) -> list[float]:
    own = [group for group in groups if group["device"] == device]
    return [mean([group for group in own if (group["precision"] == "fp16") == half]) for half in (False, True)]


def left_out_devices(runner: Runner, operators: str, steps: str) -> list[str]:
    def errors(device: str) -> list:
        predictor = runner.fit(f"steps-{device}", "--data", operators, "--steps", steps, "--start", str(PRIOR),
                               "--without", STEP_DEVICES[device], "--evaluations", str(STEP_EVALUATIONS))
        by = ("--by", "device,precision")
        default = by_precision(runner.evaluate(steps, predictor, *by), device)
        calibrated = by_precision(runner.evaluate(steps, predictor, *by, "--calibrate", str(RUNS), "--calibrate-by",
                                                  "device", "--calibrate-factors", "host"), device)
        return [device, *default, *calibrated]

    rows = for_each(list(STEP_DEVICES), errors)
    rows.append(["mean", *(average([row[i] for row in rows]) for i in range(1, 5))])
    return table(["GPU left out", "fp32", "fp16", f"fp32, host by {RUNS} runs", f"fp16, host by {RUNS} runs"], rows)


def left_out_families(runner: Runner, source: pathlib.Path, steps: str, start: str) -> list[str]:
    def errors(family: str) -> list[dict]:
        predictor = runner.fit(f"steps-{family}", "--steps", steps, "--start", start, "--without",
                               f"{family}*,wide_{family}*", "--evaluations", str(STEP_EVALUATIONS))
        own = runner.folder / family / source.name
        own.parent.mkdir(exist_ok=True)
        one_gpu_steps(source, own, family)
        return runner.evaluate(str(own), predictor, "--by", "device,precision")

    def halves(groups: list[dict]) -> list[float]:
        return [mean([group for group in groups if (group["precision"] == "fp16") == half]) for half in (False, True)]

    found = for_each(FAMILIES, errors)
    rows = [[family, *halves(groups)] for family, groups in zip(FAMILIES, found)]
    rows.append(["all rows", *halves([group for groups in found for group in groups])])
    return table(["family left out", "fp32", "fp16"], rows)


def page(runner: Runner, data: pathlib.Path) -> str:
    operators = data / "operators"
    source = data / "training/torchvision_gpus.csv"
    start = runner.fit("operators", "--data", str(operators), "--start", str(PRIOR), "--evaluations",
                       str(OPERATOR_EVALUATIONS))
    steps = runner.folder / "steps" / source.name
    steps.parent.mkdir()
    one_gpu_steps(source, steps)
    return "\n".join([
        "# Errors on what was left out", "",
        "Written by `make leave-out DATA=dir`. Mean absolute errors in per cent; nothing of what a row",
        "names was in the fit that predicted it.", "",
        "Convolutions forward, fp32 (`neusight_conv.csv`; what the host adds is in both times):", "",
        *convolutions(runner, operators), "",
        "GEMMs of the test split, fp32 (`neusight_gemm.csv`):", "",
        *products(runner, operators, start), "",
        "Training steps of 32 CNNs on one GPU (`torchvision_gpus.csv`; fp32 is TF32 on the A100). The host is the",
        f"default one, or its speed alone was found by {RUNS} runs of that machine, which are not scored:", "",
        *left_out_devices(runner, str(operators), str(steps)), "",
        "What only one GPU shows (TF32; 16 bits on a GPU without fast units for them, the TITAN Xp) stays, where it is",
        "left out, as the prior has it, which was chosen with these rows in view.", "",
        "The same steps on all four GPUs with the default host, a family of models left out:", "",
        *left_out_families(runner, source, str(steps), start), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--generations", action="store_true", help="whole generations of GPUs alone")
    arguments = parser.parse_args()
    write = generations_page if arguments.generations else page
    with tempfile.TemporaryDirectory() as folder:
        text = wrap(write(Runner(arguments.program, pathlib.Path(folder)), arguments.data))
    print(text)
    if str(arguments.out) != "-":
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

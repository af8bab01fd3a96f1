# SPDX-License-Identifier: Apache-2.0
"""Fails where predictions have become worse: errors on data of this repository against tests/ceilings.json.

    python3 tools/check_ceilings.py --program PROGRAM [--write]

Three sets: operators that the lab timed (the median, since a CPU that nobody calibrated is far off on some), steps of
its training jobs after a calibration by ten of them (the mean), and public figures (the mean; tests/public_figures.json
has request, measured value and source of each). A ceiling is the error when it was written and a tenth more; `--write`
sets all of them anew, for a change that makes one set worse with reason.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CEILINGS = ROOT / "tests/ceilings.json"
FIGURES = ROOT / "tests/public_figures.json"
ROOM = 1.1
SETS = {
    "lab operators": ("median_ape_percent", ["--data", "data/lab/operators.csv", "--by", "file"]),
    "lab steps, calibrated": ("mape_percent", ["--data", "data/lab/third_machine", "--calibrate", "10", "--by", "metric"]),
}  # fmt: skip


def run(program: str, words: list[str], text: str | None = None) -> str:
    done = subprocess.run([program, *words], input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"check_ceilings: {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def evaluated(program: str, error: str, words: list[str]) -> float:
    """The error over the groups' rows; of the lab's jobs that of steps."""
    groups = json.loads(run(program, ["evaluate", *words, "--json"]))["groups"]
    steps = [one for one in groups if "metric" not in one or one["metric"].startswith("step_time")]
    rows = sum(one["predicted"] for one in steps)
    return sum(one["predicted"] * one[error] for one in steps) / rows / 100


def number(report: dict, path: str) -> float:
    for key in path.split("."):
        report = report[key]
    return report["value"] if isinstance(report, dict) else report


def figures(program: str) -> tuple[float, list[str]]:
    """The mean error, and of each figure a line."""
    cases = json.loads(FIGURES.read_text(encoding="utf-8"))["figures"]
    requests = "".join(json.dumps(case["request"]) + "\n" for case in cases)
    answers = [json.loads(line) for line in run(program, ["predict", "--requests", "-"], requests).splitlines()]
    errors, lines = [], []
    for case, answer in zip(cases, answers, strict=True):
        if "error" in answer:
            sys.exit(f"check_ceilings: {case['request']['model']}: {answer['error']['message']}")
        errors.append(number(answer, case["number"]) / case["measured"] - 1)
        device = case["request"]["device"]
        name = device["name"] if isinstance(device, dict) else device
        lines.append(f"  {100 * errors[-1]:+6.1f} %  {case['request']['model']} on {name}")
    return sum(map(abs, errors)) / len(errors), lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    found = {name: evaluated(program, *how) for name, how in SETS.items()}
    found["public figures"], lines = figures(program)
    if given.write:
        ceilings = {name: round(ROOM * error, 4) for name, error in found.items()}
        CEILINGS.write_text(json.dumps(ceilings, indent=1) + "\n", encoding="utf-8")
    ceilings = json.loads(CEILINGS.read_text(encoding="utf-8"))
    print("\n".join(lines))
    for name, error in found.items():
        print(f"{name}: error {100 * error:.2f} %, at most {100 * ceilings[name]:.2f} %")
    return int(any(error > ceilings[name] for name, error in found.items()))


if __name__ == "__main__":
    sys.exit(main())

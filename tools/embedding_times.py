# SPDX-License-Identifier: Apache-2.0
"""Errors of times that the embedding engine tells, for docs/embedding.md (tools/write_embedding.py).

    python3 tools/embedding_times.py PROGRAM --data DIR [--models GRAPHS --families FILE] [--jobs EXPORT] \\
        [--encoders FOLDER] -o times.json [--only timm,torchvision,jobs,encoders,speed]

DIR holds training/timm_train.csv and training/torchvision_gpus.csv; GRAPHS are timm's models as tools/timm_graphs.py writes them,
FILE their families as tools/timm_families.py does. EXPORT is a store or its export with whole jobs, data/lab/fourth_machine unless said.
FOLDER holds encoders that foretrain_train.evidence wrote. With --only the other parts of times.json stay as they are.
"""
import argparse
import json
import pathlib
import subprocess
import sys

PARTS = ("timm", "torchvision", "jobs", "encoders", "speed")
CURVE = "5,10,20,50,100,200,400"
ENCODERS = ("not-trained", "self-supervised-alone")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def tests(program: str, data: pathlib.Path, *more: str) -> dict:
    command = [program, "fit", "embedding", "--data", str(data), "--tests", "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    return {"command": command[1:], "notes": lines[:-1], **json.loads(lines[-1])}


def timm_of(given: argparse.Namespace) -> list[str]:
    return ["--models", str(given.models), "--families", str(given.families)]


def timm(given: argparse.Namespace) -> dict:
    return tests(given.program, given.data / "training/timm_train.csv", *timm_of(given), "--curve", CURVE)


def torchvision(given: argparse.Namespace, *more: str) -> dict:
    return tests(given.program, given.data / "training/torchvision_gpus.csv", "--leave-out", "model", "--folds", "3", *more)


def jobs(given: argparse.Namespace) -> dict:
    return tests(given.program, given.jobs, "--time", "total", "--leave-out", "model", "--ernest", "0,3,7")


def encoders(given: argparse.Namespace) -> dict:
    """Errors on torchvision's networks with encoders that were trained otherwise."""
    found = {}
    for name in ENCODERS:
        file = given.encoders / f"{name}.json" if given.encoders else None
        if file and file.exists():
            found[name] = torchvision(given, "--chosen-only", "--embedding", str(file))
    return found


def speed(given: argparse.Namespace) -> dict:
    bench = [sys.executable, "-B", str(ROOT / "bench/embedding_bench.py"), given.program, "--json"]
    return json.loads(subprocess.run(bench, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of measurements")
    parser.add_argument("--models", type=pathlib.Path, help="the folder of timm's graphs")
    parser.add_argument("--families", type=pathlib.Path, help="their families")
    parser.add_argument("--jobs", type=pathlib.Path, default=ROOT / "data/lab/fourth_machine", help="whole jobs")
    parser.add_argument("--encoders", type=pathlib.Path, help="encoders that were trained otherwise")
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run")
    given = parser.parse_args()
    found = json.loads(given.out.read_text()) if given.out.exists() else {}
    for part in given.only.split(","):
        if part == "timm" and not given.models:
            continue
        found[part] = globals()[part](given)
        given.out.write_text(json.dumps(found, indent=1) + "\n")  # after every part: some take minutes


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Trainings of inspectors that are done once: each is kept by what it was made of.

A run's key is the digest of the measurements, of what is learned from them (`fit inspector --examples`: features and
physics), of the sources that learn, and of the run's own options. One that is done is not repeated; a network's
training that was interrupted goes on from its checkpoint.
"""
import argparse
import collections
import csv
import hashlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

from inspector_scores import mean_error, mean_nrmse, mean_of_resources, of_setting

BASE = "ddp2-core-1g"  # the setting that most was measured in
LEARNERS = ("learn", "train", "inspector")  # folders of foretrain/ whose sources decide what is learned
EPOCHS = re.compile(r"(\d+) epochs in [0-9.]+ s, each ([0-9.e+-]+) s of processor time; the best was (\d+)")
PARAMETERS = re.compile(r"(\d+) architectures, (\d+) examples; (\d+) parameters")


def digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()[:16]


def said_by(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout


def learner_sources(root: pathlib.Path) -> list[bytes]:
    files = sorted(file for name in LEARNERS for file in (root / "foretrain" / name).rglob("*")
                   if file.suffix in (".cc", ".h") and "test" not in file.stem)  # fmt: skip
    return [file.read_bytes() for file in files]


class Runs:
    """`data`: of the machine that is predicted and scored; `others`: of further ones, to learn from too; `keep`: the
    folder of finished and interrupted runs; `quiet`: no line per run."""

    def __init__(self, program: str, data: pathlib.Path, keep: pathlib.Path, quiet: bool = False,
                 others: list[pathlib.Path] | None = None):  # fmt: skip
        self.program, self.data, self.keep, self.quiet, self.others = program, data, keep, quiet, others or []
        keep.mkdir(parents=True, exist_ok=True)
        tables = [(folder / name).read_bytes() for folder in (data, *self.others)
                  for name in ("runs.csv", "metrics.csv", "machines.csv")]  # fmt: skip
        program_bytes = [pathlib.Path(name).read_bytes() for name in (program, f"{program}-fit")]
        sources = learner_sources(pathlib.Path(__file__).resolve().parent.parent)
        self.measured = digest(*tables)
        self.calibration = self._calibrate(digest(*tables, *program_bytes))
        examples = self._examples(digest(*tables, *program_bytes))
        self.made_of = digest(*tables, examples.read_bytes(), *sources)

    def _calibrate(self, key: str) -> str:
        """The machine, by training runs of the base setting, once for all: none calibrates by what it must not see."""
        file = self.keep / f"calibration-{key}.json"
        if not file.exists():
            said_by(self.program, "fit", "inspector", "--data", str(self.data), "--setting", BASE, "--method",
                    "physics", "-o", f"{file}.fit")  # fmt: skip
            found = json.loads(pathlib.Path(f"{file}.fit").read_text(encoding="utf-8"))["calibration"]
            pathlib.Path(f"{file}.new").write_text(json.dumps(found), encoding="utf-8")
            pathlib.Path(f"{file}.new").rename(file)
        return str(file)

    def _examples(self, key: str) -> pathlib.Path:
        file = self.keep / f"examples-{key}.csv"
        if not file.exists():
            said_by(self.program, "fit", "inspector", "--data", str(self.data), "--calibration", self.calibration,
                    "--examples", f"{file}.new")  # fmt: skip
            pathlib.Path(f"{file}.new").rename(file)
        return file

    def _run(self, command: list[str], options: list[str], network: bool) -> pathlib.Path:
        """The folder of a fit that is done: model.json, said.txt, run.json. `options`: what decides its result."""
        folder = self.keep / digest(self.made_of.encode(), *(part.encode() for part in options))
        if (folder / "run.json").exists():
            return folder
        folder.mkdir(exist_ok=True)
        start = time.time()
        more = ["--checkpoint", str(folder / "checkpoint.json")] if network else []
        said = said_by(self.program, *command, *more, "-o", str(folder / "model.json"))
        (folder / "said.txt").write_text(said, encoding="utf-8")
        facts = {"options": options, **facts_of(said)}
        (folder / "run.json.new").write_text(json.dumps(facts, indent=1), encoding="utf-8")
        (folder / "run.json.new").rename(folder / "run.json")
        if not self.quiet:
            print(f"{time.time() - start:7.1f} s  {' '.join(options)}", file=sys.stderr, flush=True)
        return folder

    def fit(self, *options: str, network: bool = False) -> pathlib.Path:
        command = ["fit", "inspector", "--data", str(self.data), "--calibration", self.calibration, *options]
        return self._run(command, ["fit", *options], network)

    def fit_pooled(self, *options: str) -> pathlib.Path:
        """By the runs of all machines, each with its own calibration."""
        data = ",".join(str(folder) for folder in (self.data, *self.others))
        return self._run(["fit", "inspector", "--data", data, *options], ["fit pooled", *options], network=False)

    def transfer(self, base: pathlib.Path, *options: str, network: bool = False) -> pathlib.Path:
        command = ["transfer", str(base / "model.json"), "--data", str(self.data), *options]
        return self._run(command, ["transfer", base.name, *options], network)

    def rows(self, model: pathlib.Path, *options: str) -> list[dict]:
        """Every number of the test split beside what the model of a folder predicts."""
        file = model / f"rows-{digest(*(part.encode() for part in options))}.csv"
        if not file.exists():
            said_by(self.program, "evaluate", "--data", str(self.data), "--resources", "--engine", "inspector",
                    "--predictor", str(model / "model.json"), "--rows", f"{file}.new", "--json", *options)  # fmt: skip
            pathlib.Path(f"{file}.new").rename(file)
        return read_csv(file)

    def whole_jobs(self, model: pathlib.Path) -> list[dict]:
        """Steps and lengths of the whole jobs of the test split, as `rows` has other numbers."""
        file = model / "whole.csv"
        if not file.exists():
            said_by(self.program, "evaluate", "--data", str(self.data / "runs.csv"), "--predictor",
                    str(model / "model.json"), "--rows", f"{file}.new", "--json")  # fmt: skip
            pathlib.Path(f"{file}.new").rename(file)
        return whole_job_rows(read_csv(self.data / "runs.csv"), read_csv(file))


def read_csv(file: pathlib.Path) -> list[dict]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def whole_job_rows(runs: list[dict], judged: list[dict]) -> list[dict]:
    """`judged`: lines of `evaluate --rows`, which name the line of `runs` that they are of."""
    whole = {str(place): run for place, run in enumerate(runs, 2) if run["wall_s"] and run["split"] == "test"}
    jobs = collections.defaultdict(list)
    for row in judged:
        number = {"step_time": "step_time_s", "wall time": "wall_s"}.get(row["metric"].partition(", ")[0])
        if row["line"] in whole and number and row["predicted"]:
            jobs[whole[row["line"]]["setting"], row["model"], number, row["request"]].append(row)
    rows = []
    for (setting, model, number, request), some in jobs.items():
        values = [float(row["measured"]) for row in some]
        rows.append({"setting": setting, "split": "test", "model": model, "number": number, "repeats": f"{len(values)}",
                     "measured": f"{statistics.median(values)}", "predicted": some[0]["predicted"], "low": "",
                     "high": "", "engine": "", "runs": " ".join(map(str, values)), "request": request})  # fmt: skip
    return rows


def facts_of(said: str) -> dict:
    """What a fit says of its training, where it trained a network."""
    facts = {}
    if found := EPOCHS.search(said):
        facts["epochs"], facts["s_per_epoch"], facts["best_epoch"] = int(found[1]), float(found[2]), int(found[3])
        facts["processor_s"] = facts["epochs"] * facts["s_per_epoch"]
    if found := PARAMETERS.search(said):
        facts["architectures"], facts["examples"], facts["parameters"] = (int(found[i]) for i in (1, 2, 3))
    return facts


def facts(folder: pathlib.Path) -> dict:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


class Scores:
    """What one way to train gives on a setting's test split; a value per seed."""

    def __init__(self):
        self.nrmse: list[float] = []
        self.error: list[float] = []
        self.answered: list[float] = []  # share of the numbers that lie in the model's domain
        self.facts: list[dict] = []
        self.architectures = 0  # trained on

    def add(self, runs: Runs, folder: pathlib.Path, setting: str) -> None:
        rows = of_setting(runs.rows(folder, "--setting", setting), setting)
        self.nrmse.append(mean_nrmse(rows))
        self.error.append(mean_of_resources(rows, mean_error))
        self.answered.append(statistics.fmean(row["engine"] == "inspector" for row in rows))
        self.facts.append(facts(folder))

    def told(self, name: str) -> list[float]:
        """A fact of the trainings; 0 where none trained."""
        return [one.get(name, 0) for one in self.facts]


def runs_of_arguments(about: str) -> Runs:
    """PROGRAM DATA KEEP of the command line."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("keep", type=pathlib.Path)
    options = parser.parse_args()
    return Runs(options.program, options.data, options.keep)

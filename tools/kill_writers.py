# SPDX-License-Identifier: Apache-2.0
"""Kills every command that writes a file, and lets its disk run full, again and again.

    tools/kill_writers.py --program build/release/foretrain [--kills 100] [--seed 1]

Each command writes where an earlier good file lies: `store import` into a store, `store export` into a
folder, `fit`, `graph --ftg`, `predict --trace`, `simulate`, `evaluate --rows` and `search --history` over
a file. As many times as asked it is killed by signal 9, every other time at a random moment, else as soon
as anything in the folder has changed, which is amid the writing; and as many times it runs on a small
tmpfs that is filled but for a random rest, so that the disk is full somewhere on the way. Afterwards the
earlier file or the new one must be there, whole: of a folder all files of one export, of a store the rows
of whole imports, of a history the lines of whole runs. Exit code 0 means the new one. What a kill leaves
beside them must not disturb the next run. The table says how often the earlier and the new file was
found, how many kills came amid the writing and how many disks were too small; 50 kills or more of which
none did are a failure of the trial. Exit code 77 where the machine cannot show it: without root, which
mounts the tmpfs.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

SKIPPED = 77
DISK_BYTES = 16 << 20
ENOUGH = 50  # attempts, of which some must have hit
COLUMNS = (
    "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
    "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes"
)
HISTORY = "workers,time_s,expected_gain,goal,best_goal\n3,0.3,,0.3,0.3\n5,0.5,,0.5,0.3\n"
STEP = '{"request": {"model": "alexnet", "device": "t4", "batch": 8}, "step_time_s": 0.05}\n'
Path = pathlib.Path


@dataclasses.dataclass
class Writer:
    """A command that writes into a folder."""

    name: str
    prepare: Callable[[Path], object]  # what is there before
    command: Callable[[Path], list[object]]
    state: Callable[[Path], object]  # what is there now; throws where it is damaged


def training(rows: int) -> str:
    line = "paper,PyTorch,resnet50,ImageNet,V100,8,1,8,NVLink,FP32,32,256,step_time,{},s,DDP,"
    return COLUMNS + "\n" + "".join(line.format(0.1 + i / rows) + "\n" for i in range(rows))


def epochs() -> str:
    """Of 2 + samples / (100 workers) + workers / 2 seconds."""
    lines = [f"{w},{s},{2 + s / w / 100 + w / 2}\n" for w in (1, 2, 3, 4, 6, 8) for s in (1000, 2000, 4000)]
    return "workers,samples,time\n" + "".join(lines)


def job_trace(jobs: int) -> str:
    lines = [f"j{i},{i},{10 + i % 90},{1 + i % 4}\n" for i in range(jobs)]
    return "job,submit_s,duration_s,devices\n" + "".join(lines)


def rows_of(store: Path) -> dict[str, int]:
    with contextlib.closing(sqlite3.connect(store)) as database:
        if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise ValueError("the store is damaged")
        return dict(database.execute("SELECT file, count(*) FROM training GROUP BY file").fetchall())


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def runs_of(history: Path) -> str:
    """Of a search, which writes its history anew after each run."""
    header, *lines = history.read_text(encoding="utf-8").split("\n")
    if header != HISTORY.split("\n", maxsplit=1)[0] or lines.pop() != "":
        raise ValueError("the history ends amid a line")
    if [line.split(",")[:2] for line in lines[:2]] != [["3", "0.3"], ["5", "0.5"]]:
        raise ValueError("runs of the earlier history are gone")
    if any(line.count(",") != header.count(",") for line in lines):
        raise ValueError("the history has half a line")
    return "earlier" if len(lines) == 2 else "new"


def json_of(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    json.loads(text)
    return text


def run(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)


def make_inputs(program: str, at: Path) -> None:
    """What the commands read; it lies where there is room."""
    (at / "old.csv").write_text(training(2_000), encoding="utf-8")
    (at / "new.csv").write_text(training(6_000), encoding="utf-8")
    (at / "jobs.csv").write_text(job_trace(20_000), encoding="utf-8")
    (at / "steps.jsonl").write_text(STEP, encoding="utf-8")
    steps = "".join(STEP.replace('"batch": 8', f'"batch": {batch}') for batch in range(1, 301))
    (at / "many_steps.jsonl").write_text(steps, encoding="utf-8")
    (at / "epochs.csv").write_text(epochs(), encoding="utf-8")
    points = "".join(f"{i},{i / 10}\n" for i in range(1, 41))
    (at / "points.csv").write_text("workers,time_s\n" + points, encoding="utf-8")
    for store, files in (("small.db", ["old.csv"]), ("large.db", ["old.csv", "new.csv"])):
        done = run(program, "store", "import", "--store", at / store, *(at / file for file in files))
        if done.returncode != 0:
            raise RuntimeError(f"store import: {done.stderr}")


def writers(program: str, inputs: Path) -> list[Writer]:
    def earlier(file: str) -> Callable[[Path], object]:
        return lambda to: (to / file).write_text('{"earlier": true}\n', encoding="utf-8")

    def export(store: str) -> Callable[[Path], list[object]]:
        return lambda to: [program, "store", "export", "--store", inputs / store, "-o", to / "out"]

    def one_file(name: str, file: str, *words: object) -> Writer:
        read = json_of if file.endswith(".json") else Path.read_bytes
        return Writer(name, earlier(file), lambda to: [program, *words, to / file], lambda at: read(at / file))

    return [
        Writer("store import", lambda to: shutil.copy(inputs / "small.db", to / "store.db"),
               lambda to: [program, "store", "import", "--store", to / "store.db", inputs / "new.csv"],
               lambda at: rows_of(at / "store.db")),
        Writer("store export", lambda to: run(*export("small.db")(to)), export("large.db"),
               lambda at: files_of(at / "out")),
        one_file("fit", "predictor.json", "fit", "calibration", "--data", inputs / "steps.jsonl", "-o"),
        one_file("graph --ftg", "model.ftg.json", "graph", "resnet152", "--ftg"),
        one_file("predict --trace", "trace.json", "predict", "resnet50", "--device", "t4", "--trace"),
        one_file("fit scaling", "scaling.json", "fit", "scaling", "--data", inputs / "epochs.csv", "--columns",
                 "time=time,samples=samples,workers=workers", "--method", "ernest", "-o"),
        one_file("simulate --jobs", "jobs.csv", "simulate", inputs / "jobs.csv", "--cluster", "4x4", "--jobs"),
        one_file("simulate --events", "events.csv", "simulate", inputs / "jobs.csv", "--cluster", "4x4", "--events"),
        one_file("simulate --chart", "chart.svg", "simulate", inputs / "jobs.csv", "--cluster", "4x4", "--chart"),
        one_file("evaluate --rows", "rows.csv", "evaluate", "--data", inputs / "many_steps.jsonl", "--rows"),
        Writer("search --history", lambda to: (to / "h.csv").write_text(HISTORY, encoding="utf-8"),
               lambda to: [program, "search", "--table", inputs / "points.csv", "--most", "20", "--stop", "0",
                           "--history", to / "h.csv"],
               lambda at: runs_of(at / "h.csv")),
    ]  # fmt: skip


class Trial:
    def __init__(self, writer: Writer, folder: Path, draw: random.Random) -> None:
        """Runs it once undisturbed, to know how long it takes and what it leaves."""
        self.writer, self.folder, self.draw = writer, folder, draw
        self.reset()
        self.before = writer.state(folder)
        free = self.free_bytes()
        started = time.monotonic()
        done = run(*writer.command(folder))
        self.seconds = time.monotonic() - started
        self.bytes = max(free - self.free_bytes(), 1 << 16)
        if done.returncode != 0:
            raise RuntimeError(f"{writer.name}: {done.stderr}")
        self.after = writer.state(folder)
        self.counts = dict.fromkeys(("earlier", "new", "amid", "too small"), 0)
        if self.after == self.before:
            raise RuntimeError(f"{writer.name}: writes nothing new")

    def free_bytes(self) -> int:
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize

    def reset(self) -> None:
        for entry in self.folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        self.writer.prepare(self.folder)

    def problem(self, code: int) -> str:
        try:
            state = self.writer.state(self.folder)
        except (OSError, ValueError, sqlite3.Error) as error:
            return f"what is there is damaged: {error}"
        if state not in (self.before, self.after):
            return "what is there is neither the earlier nor the new"
        self.counts["new" if state == self.after else "earlier"] += 1
        return "exit code 0, but nothing new is there" if code == 0 and state != self.after else ""

    def listing(self) -> list[tuple]:
        """What the folder shows of a writer at work."""
        found = []
        for at, _, files in os.walk(self.folder):
            for name in files:
                with contextlib.suppress(FileNotFoundError):
                    status = os.stat(os.path.join(at, name))
                    found.append((at, name, status.st_ino, status.st_size, status.st_mtime_ns))
        return sorted(found)

    def kill(self, amid: bool = False) -> str:
        self.reset()
        before = self.listing()
        command = [str(word) for word in self.writer.command(self.folder)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if amid:
            while child.poll() is None and self.listing() == before:
                pass
            time.sleep(self.draw.uniform(0, 0.002))
        else:
            time.sleep(self.draw.uniform(0, 1.1 * self.seconds))
        child.send_signal(signal.SIGKILL)
        code = child.wait()
        if code == -signal.SIGKILL and self.listing() != before:
            self.counts["amid"] += 1
        if problem := self.problem(code):
            return problem
        # What the kill has left beside the file is not in the way of the next run.
        again = run(*command) if amid and self.draw.random() < 0.1 else None
        return "" if again is None or again.returncode == 0 else f"the next run fails: {again.stderr}"

    def fill(self) -> str:
        self.reset()
        ballast = self.folder / "ballast"
        rest = self.draw.randrange(0, 2 * self.bytes)
        ballast.write_bytes(b"\0" * max(0, self.free_bytes() - rest))
        done = run(*self.writer.command(self.folder))
        ballast.unlink()  # a reader of the store needs room, too
        if problem := self.problem(done.returncode):
            return problem
        if done.returncode not in (0, 1):
            return f"exit code {done.returncode}: {done.stderr}"
        self.counts["too small"] += done.returncode
        lines = done.stderr.splitlines()
        return f"instead of one line: {lines}" if done.returncode == 1 and len(lines) != 1 else ""


@contextlib.contextmanager
def small_disk(at: Path) -> Iterator[Path]:
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


def attack(trial: Trial, kills: int) -> str:
    for number in range(kills):
        if problem := trial.kill(amid=number % 2 == 1):
            return f"{trial.writer.name}, kill {number + 1}: {problem}"
    for number in range(kills):
        if problem := trial.fill():
            return f"{trial.writer.name}, full disk {number + 1}: {problem}"
    if kills >= ENOUGH and not (trial.counts["amid"] and trial.counts["too small"]):
        return f"{trial.writer.name}: no kill came amid the writing, or no disk was too small"
    return ""


def can_run() -> str:
    return "" if os.geteuid() == 0 and shutil.which("mount") else "needs root, to mount a small disk"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if reason := can_run():
        print(f"kill_writers: skipped: {reason}")
        return SKIPPED
    program, draw = str(Path(options.program).resolve()), random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder) / "disk") as disk:
        inputs = Path(folder) / "inputs"
        inputs.mkdir()
        make_inputs(program, inputs)
        print(f"{'command':18} {'kills':>6} {'amid writing':>13} {'full disks':>11} {'too small':>10} "
              f"{'earlier file':>13} {'new file':>9} {'damaged':>8}", flush=True)  # fmt: skip
        for writer in writers(program, inputs):
            trial = Trial(writer, disk, draw)
            if problem := attack(trial, options.kills):
                print(problem)
                return 1
            found = trial.counts
            print(f"{writer.name:18} {options.kills:6} {found['amid']:13} {options.kills:11} {found['too small']:10} "
                  f"{found['earlier']:13} {found['new']:9} {0:8}", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())

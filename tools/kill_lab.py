# SPDX-License-Identifier: Apache-2.0
"""Kills a running campaign again and again and looks at what is lost and what is left.

    tools/kill_lab.py --program build/release/foretrain [--kills 100] [--python PYTHON]

Each round starts a tiny campaign on one store and kills with signal 9, at a random moment after the
start or, every other time, after a measurement: the process that was started, the lab inside its
namespaces, everything at once, or one worker, after which the campaign must go on before it is killed
too. Then every measurement that was there before must be there still, and within five seconds no
process, interface or namespace of the lab may be left; control groups must be gone once the next
start has taken over. After the kills Ctrl-C must end the lab with exit code 130, record nothing and
leave nothing, and the campaign runs to its end. Exit code 77 where the machine cannot show it:
without root, namespaces or PyTorch, or while another lab runs.
"""
import argparse
import contextlib
import fcntl
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

from lab_remains import cgroups, interfaces, living_namespaces, names, namespaces, parent, processes

SKIPPED = 77
GONE_S = 5.0
MEASURED_S = 60.0
TARGETS = ("started", "lab", "everything", "worker")


def campaign(models: int) -> dict:
    """Runs of about a second, in every way of sharing."""
    return {
        "format": "foretrain-campaign",
        "version": 1,
        "name": "kill",
        "seconds": 0.1,
        "steps": 2,
        "warm_up": 1,
        "repeats": 1,
        "foreign_cores": 1000,
        "settings": {
            "ddp": {"workers": 2, "network": "1gbps"},
            "ps": {"workers": 1, "cores": 0.5, "strategy": {"kind": "ps", "servers": 1}},
        },
        "jobs": [
            {"models": f"random:family=mlp,seed={{1..{models}}}", "batches": 4, "settings": ["ddp", "ps"]}
        ],
    }


def rows(path: pathlib.Path, sql: str) -> list[tuple]:
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        try:
            return database.execute(sql).fetchall()
        except sqlite3.OperationalError:  # killed before the first table was made
            return []


def stored(path: pathlib.Path) -> set[tuple]:
    """Every measurement, with how much belongs to it."""
    return set(rows(path, "SELECT r.configuration, r.repeat, r.step_median_s, count(m.run), length(s.times_s) "
                          "FROM runs r LEFT JOIN metrics m ON m.run = r.id LEFT JOIN steps s ON s.run = r.id "
                          "WHERE r.status = 'ok' GROUP BY r.id"))  # fmt: skip


def lab_runs() -> bool:
    for path in ("/run/lock/foretrain-lab.lock", "/tmp/foretrain-lab.lock"):
        try:
            with open(path, "a", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
        except BlockingIOError:
            return True
        except OSError:
            continue
    return False


def default_python() -> str:
    """The one that the Python tests install PyTorch into, where it is there."""
    installed = pathlib.Path(__file__).parents[1] / "build/python/venv/bin/python"
    return os.environ.get("FORETRAIN_LAB_PYTHON") or (str(installed) if installed.exists() else "python3")


def can_run(python: str) -> str:
    if os.geteuid() != 0:
        return "needs root"
    probe = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc"]
    probe += ["ip", "link", "add", "ftprobe", "type", "bridge"]
    if not shutil.which("ip") or subprocess.run(probe, capture_output=True, check=False).returncode:
        return "needs namespaces and iproute2"
    if lab_runs():
        return "another lab runs"
    if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
        return f"needs PyTorch in {python}"
    return ""


class Trial:
    def __init__(self, program: str, python: str, folder: pathlib.Path, models: int) -> None:
        self.store = folder / "kill.db"
        self.mark = f"FORETRAIN_KILL_TRIAL={os.getpid()}"
        self.own = namespaces("self")
        self.most_s = 120 + 4 * models  # of the whole campaign
        file = folder / "campaign.json"
        file.write_text(json.dumps(campaign(models)), encoding="utf-8")
        self.command = [program, "collect", str(file), "--store", str(self.store)]
        self.command += ["--python", python, "--json"]
        self.log = folder / "log"

    def start(self) -> subprocess.Popen:
        environment = os.environ | dict([self.mark.split("=")])
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command, env=environment, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )

    def wait_for_measurement(self, child: subprocess.Popen) -> str:
        """What is wrong where there is no new one."""
        known = len(stored(self.store))
        deadline = time.monotonic() + MEASURED_S
        while len(stored(self.store)) == known:
            if child.poll() is not None:
                return f"ended by itself: {self.log.read_text()[-500:]}"
            if time.monotonic() > deadline:
                return f"measured nothing within {MEASURED_S:.0f} s"
            time.sleep(0.02)
        return ""

    def victims(self, target: str, child: subprocess.Popen, draw: random.Random) -> list[int]:
        """What to kill; the process that was started where the target is not there yet."""
        there = processes(self.mark)
        if target == "everything":
            return [*there] or [child.pid]
        if target == "lab":
            found = [process for process in there if parent(process) == child.pid]
        elif target == "worker":
            found = [process for process, words in there.items() if "-u -c" in words]
        else:
            found = []
        return [draw.choice(sorted(found))] if found else [child.pid]

    def kill(self, processes_to_kill: list[int]) -> None:
        for process in processes_to_kill:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def left(self, lab_namespaces: set[str]) -> list[str]:
        """What is there of the lab still, control groups aside."""
        found = [*processes(self.mark).values(), *interfaces(), *names()]
        return found + sorted(lab_namespaces & living_namespaces())

    def lab_namespaces(self) -> set[str]:
        found = set()
        for process in processes(self.mark):
            found |= namespaces(process)
        return found - self.own

    def wait_until_gone(self, lab_namespaces: set[str]) -> str:
        deadline = time.monotonic() + GONE_S
        while (left := self.left(lab_namespaces)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return f"left behind: {left}" if left else ""

    def kill_after(self, seconds: float, measured: bool, target: str, draw: random.Random) -> str:
        """What is wrong after a kill, counted from the next measurement where `measured`."""
        stale = cgroups()
        child = self.start()
        if measured and (problem := self.wait_for_measurement(child)):
            return problem
        time.sleep(seconds)
        if measured and (kept := stale & cgroups()):
            return f"control groups of an earlier lab: {kept}"
        before, inside = stored(self.store), self.lab_namespaces()
        killed = self.victims(target, child, draw)
        self.kill(killed)
        if target == "worker" and child.pid not in killed:
            if problem := self.wait_for_measurement(child):
                return f"after a worker was killed: {problem}"
            before, inside = stored(self.store), inside | self.lab_namespaces()
            self.kill([child.pid])
        child.wait()
        if lost := before - stored(self.store):
            return f"lost {len(lost)} measurements"
        return self.wait_until_gone(inside)

    def interrupt(self) -> str:
        """What is wrong after Ctrl-C, which a terminal sends to all processes of its group."""
        failures = "SELECT count(*) FROM runs WHERE status <> 'ok'"
        child = self.start()
        if problem := self.wait_for_measurement(child):
            return problem
        before, bad, inside = stored(self.store), rows(self.store, failures), self.lab_namespaces()
        os.killpg(child.pid, signal.SIGINT)
        try:
            child.wait(timeout=GONE_S)
        except subprocess.TimeoutExpired:
            self.kill([child.pid])
            return "Ctrl-C does not end the lab"
        if child.returncode != 130:
            return f"exit code {child.returncode} after Ctrl-C"
        if before - stored(self.store) or rows(self.store, failures) != bad:
            return "Ctrl-C was recorded as a failure, or a measurement is lost"
        if kept := cgroups():
            return f"control groups after Ctrl-C: {kept}"
        return self.wait_until_gone(inside)

    def finish(self) -> str:
        child = self.start()
        output, _ = child.communicate(timeout=self.most_s)
        if child.returncode != 0:
            return f"the last start failed: {self.log.read_text()[-500:]}"
        summary = json.loads(output)
        if summary["found"] + summary["measured"] != summary["total"]:
            return f"not complete: {summary}"
        left = self.left(set()) + sorted(cgroups())
        return f"left at the end: {left}" if left else ""

    def run(self, kills: int, draw: random.Random) -> str:
        """What is wrong."""
        for number in range(kills):
            measured, target = number % 2 == 1, TARGETS[number // 2 % len(TARGETS)]
            seconds = draw.uniform(0.0, 3.0 if measured else 12.0)
            if problem := self.kill_after(seconds, measured, target, draw):
                return f"kill {number + 1} ({target}) after {seconds:.2f} s: {problem}"
            if sys.stdout.isatty():
                print(f"\r{number + 1}/{kills} kills, {len(stored(self.store))} measurements", end="", flush=True)
        return self.interrupt() or self.finish()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--python", default=default_python())
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if reason := can_run(options.python):
        print(f"kill_lab: skipped: {reason}")
        return SKIPPED
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored, for children too
    with tempfile.TemporaryDirectory() as folder:
        models = 4 * options.kills + 2  # of two runs each: more than the kills let through on a quick machine
        trial = Trial(options.program, options.python, pathlib.Path(folder), models)
        try:
            problem = trial.run(options.kills, random.Random(options.seed))
        finally:
            trial.kill([*processes(trial.mark)])
    print(problem or f"{options.kills} kills: nothing lost, nothing left behind")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())

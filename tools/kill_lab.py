# SPDX-License-Identifier: Apache-2.0
"""Kills a running campaign again and again and looks at what is lost and what is left.

    tools/kill_lab.py --program build/release/foretrain [--kills 100] [--python PYTHON]

Each round starts a tiny campaign on one store and kills it with signal 9 at a random moment after the
start or, every other time, after a measurement. Then
every measurement that was there before must be there still, and within five seconds no process,
interface or namespace of the lab may be left; control groups are gone after the next start. At the
end the campaign runs to its end. Exit code 77 where the machine cannot show it: without root,
namespaces or PyTorch.
"""
import argparse
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

SKIPPED = 77
GONE_S = 5.0
MEASURED_S = 60.0


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


def stored(path: pathlib.Path) -> set[tuple]:
    if not path.exists():
        return set()
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        try:
            rows = database.execute(
                "SELECT r.configuration, r.repeat, r.step_median_s, count(m.run) FROM runs r "
                "LEFT JOIN metrics m ON m.run = r.id WHERE r.status = 'ok' GROUP BY r.id"
            )
        except sqlite3.OperationalError:  # killed before the first table was made
            return set()
        return set(rows)


def processes(mark: str) -> list[str]:
    """Command lines of processes whose environment holds `mark`."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120])
        except OSError:
            continue
    return found


def interfaces() -> list[str]:
    return [name for name in os.listdir("/sys/class/net") if name.startswith(("ftlink", "ftbridge"))]


def names() -> list[str]:
    folder = pathlib.Path("/run/netns")
    return [p.name for p in folder.iterdir()] if folder.exists() else []


def cgroups() -> list[str]:
    roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuset"]
    return [str(p) for root in roots for p in pathlib.Path(root).glob("foretrain-lab-*")]


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
        file = folder / "campaign.json"
        file.write_text(json.dumps(campaign(models)), encoding="utf-8")
        self.command = [program, "collect", str(file), "--store", str(self.store)]
        self.command += ["--python", python, "--json"]
        self.log = folder / "log"

    def start(self) -> subprocess.Popen:
        environment = os.environ | dict([self.mark.split("=")])
        with self.log.open("ab") as log:
            return subprocess.Popen(self.command, env=environment, stdout=subprocess.PIPE, stderr=log)

    def kill_after(self, seconds: float, measured: bool) -> str:
        """What is wrong after a kill, counted from the next measurement where `measured`."""
        child = self.start()
        known = len(stored(self.store))
        deadline = time.monotonic() + MEASURED_S
        while measured and len(stored(self.store)) == known and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(seconds)
        before = stored(self.store)
        child.send_signal(signal.SIGKILL)
        child.wait()
        lost = before - stored(self.store)
        if lost:
            return f"lost {len(lost)} measurements"
        deadline = time.monotonic() + GONE_S
        while (left := processes(self.mark) + interfaces() + names()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return f"left behind: {left}" if left else ""

    def finish(self) -> str:
        child = self.start()
        output, _ = child.communicate(timeout=600)
        if child.returncode != 0:
            return f"the last start failed: {self.log.read_text()[-500:]}"
        summary = json.loads(output)
        if summary["found"] + summary["measured"] != summary["total"]:
            return f"not complete: {summary}"
        left = processes(self.mark) + interfaces() + names() + cgroups()
        return f"left at the end: {left}" if left else ""


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
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        models = max(3, options.kills)  # more than the kills let through
        trial = Trial(options.program, options.python, pathlib.Path(folder), models)
        for number in range(options.kills):
            measured = number % 2 == 1
            seconds = draw.uniform(0.0, 3.0 if measured else 12.0)
            if problem := trial.kill_after(seconds, measured):
                print(f"kill {number + 1} after {seconds:.2f} s: {problem}")
                return 1
        kept = len(stored(trial.store))
        if problem := trial.finish():
            print(problem)
            return 1
    print(f"{options.kills} kills: nothing lost of {kept} measurements, nothing left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Answers many requests on a Ray cluster while a worker and then a whole node is killed.

The cluster is one of tools/ray_cluster.py, so that this needs root. The answers must be those that
the program gives alone, byte for byte. Prints what was done; exits with 1 where they differ.
"""
import argparse
import hashlib
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = pathlib.Path(__file__).parent
NAME = "kill"
MODELS = ("mlp", "resnet20-cifar", "resnet18", "lstm-lm:vocab=2000",
          "gpt:layers=2,hidden=128,heads=4,seq=64,vocab=2000", "nothing")  # fmt: skip
DEVICES = ("t4", "v100-sxm2-16gb", "a100-sxm4-80gb")


def write_requests(path: pathlib.Path, count: int) -> None:
    """Different ones, one in six of which cannot be answered."""
    kinds = itertools.cycle(itertools.product(range(1, 65), range(1, 9), DEVICES, MODELS))
    with path.open("w", encoding="utf-8") as file:
        for batch, workers, device, model in itertools.islice(kinds, count):
            request = {"model": model, "device": device, "batch": batch, "workers": workers}
            file.write(json.dumps(request) + "\n")


def cluster(python: str, *words: str, **options: object) -> subprocess.Popen:
    tool = [python, str(TOOLS / "ray_cluster.py"), words[0], *words[1:]]
    return subprocess.Popen(tool, **options)


def kill_worker() -> bool:
    """One of the cluster's workers that does a piece of our work."""
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if not folder.name.isdigit() or b"ray::do_piece" not in (folder / "cmdline").read_bytes():
                continue
            if f"FORETRAIN_RAY_NODE={NAME}/".encode() in (folder / "environ").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
                return True
        except OSError:
            continue
    return False


def spread(given: argparse.Namespace, requests: pathlib.Path, answers: pathlib.Path,
           expected: int) -> None:  # fmt: skip
    """Kills a worker when a tenth of the answers is there, a node at three tenths."""
    words = ["exec", f"--name={NAME}", "--", given.python, "-m", "foretrain.ray", "run",
             "--on=10.78.0.1:6379", f"--program={given.program}", "--", "predict",
             "--requests", str(requests)]  # fmt: skip
    with answers.open("wb") as file:
        running = cluster(given.python, *words, stdout=file)
        worker = node = False
        while running.poll() is None:
            share = answers.stat().st_size / expected
            if not worker and share >= 0.1:
                worker = kill_worker()
            elif worker and not node and share >= 0.3:
                node = True
                killed = cluster(given.python, "kill", "2", f"--name={NAME}").wait()
                print(f"killed a worker, and a node at {100 * share:.0f} % of the answers "
                      f"(code {killed})", flush=True)  # fmt: skip
            time.sleep(0.02)
    if running.returncode != 0:
        sys.exit(f"the command on the cluster ended with code {running.returncode}")
    if not (worker and node):
        sys.exit("all was answered before worker and node were killed: give more requests")


def digest(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the program foretrain")
    parser.add_argument("--python", default=sys.executable, help="one with foretrain and Ray")
    parser.add_argument("--requests", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        requests, alone, together = (folder / n for n in ("requests", "alone", "together"))
        write_requests(requests, given.requests)
        started = time.monotonic()
        with alone.open("wb") as file:
            subprocess.run([given.program, "predict", "--requests", str(requests)], stdout=file,
                           check=True)  # fmt: skip
        print(f"{given.requests:,} requests, alone {time.monotonic() - started:.0f} s", flush=True)
        if cluster(given.python, "start", f"--name={NAME}", "--nodes=4").wait() != 0:
            return 1
        try:
            started = time.monotonic()
            spread(given, requests, together, alone.stat().st_size)
        finally:
            cluster(given.python, "stop", f"--name={NAME}").wait()
        same = digest(alone) == digest(together)
        print(f"on a head and three nodes {time.monotonic() - started:.0f} s: "
              f"{'the same' if same else 'OTHER'} bytes")  # fmt: skip
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

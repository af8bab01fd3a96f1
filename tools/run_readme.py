# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that README.md shows, in an empty folder, and fails where one does.

A command is a line of a fenced block tagged `sh` that begins with "$ "; a backslash at its end
continues it. Commands of foretrain are run; the others are named and skipped. Exits with 77
(skipped) where there is no README.md.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```sh[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SKIPPED = 77
SECONDS = 120


def commands(readme: str) -> list[str]:
    found = []
    for block in BLOCK.findall(readme):
        joined = re.sub(r"\\\n\s*(?:> )?", "", block)
        found += [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]
    return found


def run(command: str, program: pathlib.Path, folder: str) -> bool:
    """Whether the command ended well, with `foretrain` meaning `program`."""
    with tempfile.TemporaryDirectory() as bin_folder:
        os.symlink(program.resolve(), os.path.join(bin_folder, "foretrain"))
        path = bin_folder + os.pathsep + os.environ.get("PATH", "")
        shell = ["bash", "-o", "pipefail", "-c", command]
        try:
            done = subprocess.run(shell, cwd=folder, env={**os.environ, "PATH": path}, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, check=False)
        except subprocess.TimeoutExpired:
            print(f"FAILED  {command}\n        still running after {SECONDS} s")
            return False
    if done.returncode != 0:
        print(f"FAILED  {command}\n        exit code {done.returncode}: {done.stderr.strip()}")
        return False
    print(f"ok      {command}")
    return True


def run_all(readme: str, program: pathlib.Path) -> bool:
    failed = ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for command in commands(readme):
            if command.startswith("foretrain "):
                ran += 1
                failed += not run(command, program, folder)
            else:
                print(f"skipped {command}")
    print(f"README.md: {ran} commands run, {failed} failed")
    return ran > 0 and failed == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the foretrain to run")
    parser.add_argument("--readme", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent / "README.md")
    arguments = parser.parse_args()
    if not arguments.readme.exists():
        print(f"skipped: no {arguments.readme.name}")
        return SKIPPED
    return 0 if run_all(arguments.readme.read_text(encoding="utf-8"), arguments.program) else 1


if __name__ == "__main__":
    sys.exit(main())

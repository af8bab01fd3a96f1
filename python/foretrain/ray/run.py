# SPDX-License-Identifier: Apache-2.0
"""Commands of the program on a cluster: how each is taken apart and put together."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ..errors import Error
from ..measurements import import_measurements
from . import cluster
from .parcel import find_paths, is_below, pack
from .progress import Progress
from .spread import Done, Piece, Spreader, checked

_MOST_BYTES = 8 << 20  # of the lines of one piece
_LINES = {"evaluate": 256, "simulate": 1}  # of what is listed, in one piece


@dataclass
class Command:
    """A command of the program that is to be spread."""

    words: list[str]
    on: str
    program: pathlib.Path
    out: BinaryIO  # standard output, which Ray's own words stay out of
    lines: int | None = None  # of one piece
    at_once: int | None = None
    send: list[str] = field(default_factory=list)
    each: list[str] = field(default_factory=list)


def find_program(given: str | None) -> pathlib.Path:
    found = given or os.environ.get("FORETRAIN_PROGRAM") or shutil.which("foretrain")
    if not found or not os.access(found, os.X_OK):
        raise Error(
            "the program foretrain is not found; name it by --program or FORETRAIN_PROGRAM",
            "NotFound",
        )
    return pathlib.Path(found).resolve()


def run(command: Command) -> int:
    """Returns the exit code; what the command prints is what it prints without a cluster."""
    kind = command.words[0] if command.words else ""
    if command.each:
        return _run_each(command)
    if kind == "predict":
        return _run_lines(command)
    if kind in ("evaluate", "simulate"):
        return _run_pieces(command)
    if kind == "collect":
        return _run_collect(command)
    if kind == "fit":
        raise Error(
            "a fit is spread by its variants: --each seed=1..5 with --seed {seed} -o FILE-{seed}"
        )
    raise Error(
        f"'{kind}' cannot be spread: predict --requests, evaluate, simulate, collect and fit can"
    )


def _value(words: list[str], option: str) -> tuple[str | None, list[str]]:
    """The value of an option, and the other words."""
    rest: list[str] = []
    value: str | None = None
    later = iter(words)
    for word in later:
        if word == option:
            value = next(later, None)
        elif word.startswith(option + "="):
            value = word[len(option) + 1 :]
        else:
            rest.append(word)
    return value, rest


@contextlib.contextmanager
def _spreader(command: Command, words: list[str]) -> Iterator[tuple[Spreader, list[str]]]:
    """What spreads, and the words with the paths that files have on the nodes."""
    sent, words = find_paths(words, command.send)
    folders = sorted({str(pathlib.Path(w).parent) for w in words if is_below(w)} - {"."})
    with cluster.connected(command.on) as ray:
        yield Spreader(ray, command.program, pack(sent), folders), words


def _run_lines(command: Command) -> int:
    """predict --requests: the lines are the pieces, and so are the answers."""
    file, others = _value(command.words, "--requests")
    if file is None:
        raise Error("--on spreads the lines of --requests; give these")
    threads = int(_value(others, "--threads")[0] or 1)
    first = int(_value(others, "--first-line")[0] or 1)
    others = _value(others, "--first-line")[1]
    with contextlib.ExitStack() as stack:
        try:
            stream = sys.stdin.buffer if file == "-" else stack.enter_context(open(file, "rb"))
        except OSError as error:
            raise Error(f"cannot read '{file}': {error.strerror}", "Io") from error
        spreader, words = stack.enter_context(_spreader(command, others))
        progress = stack.enter_context(Progress("requests"))
        pieces = _pieces_of(stream, words, command.lines or 1000, first)
        done = 0

        def count(one: Done) -> None:
            nonlocal done
            done += one.size
            progress.show(done, f"{spreader.lost} begun again" if spreader.lost else "")

        for one in spreader.each(pieces, cpus=threads, at_once=command.at_once, on_done=count):
            command.out.write(checked(one).out)
            command.out.flush()
    return 0


def _pieces_of(stream: Any, words: list[str], lines: int, first: int) -> Iterator[Piece]:
    """So many lines each; answers call a line by its number in the whole."""
    part: list[bytes] = []
    size = 0
    for line in stream:
        part.append(line)
        size += len(line)
        if len(part) >= lines or size >= _MOST_BYTES:
            yield _lines_piece(part, words, first)
            first, part, size = first + len(part), [], 0
    if part:
        yield _lines_piece(part, words, first)


def _lines_piece(part: list[bytes], words: list[str], first: int) -> Piece:
    own = ["--requests", "-", "--first-line", str(first)]
    return Piece([[*words, *own]], b"".join(part), len(part))


def _listed(command: Command) -> list[bytes]:
    """What there is to do, by the program itself."""
    done = subprocess.run(
        [str(command.program), *command.words, "--work", "list"],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    return done.stdout.splitlines(keepends=True)


def _run_pieces(command: Command) -> int:
    """evaluate, simulate: listed here, done there, put together here."""
    todo = _listed(command)
    words = command.words
    if words[0] == "evaluate":  # its data are read here alone
        words = [words[0], "--data", "-", *_value(_value(words[1:], "--data")[1], "--rows")[1]]
    lines = command.lines or _LINES[words[0]]
    with tempfile.TemporaryFile() as results:
        with contextlib.ExitStack() as stack:
            spreader, words = stack.enter_context(_spreader(command, words))
            progress = stack.enter_context(Progress(command.words[0], len(todo)))
            parts = [todo[i : i + lines] for i in range(0, len(todo), lines)]
            pieces = [Piece([[*words, "--work", "do"]], b"".join(p), len(p)) for p in parts]
            done = 0

            def count(one: Done) -> None:
                nonlocal done
                done += one.size
                progress.show(done)

            for one in spreader.each(pieces, at_once=command.at_once, on_done=count):
                results.write(checked(one).out)
        results.seek(0)
        last = [str(command.program), *command.words, "--work", "finish"]
        return subprocess.run(last, stdin=results, stdout=command.out, check=False).returncode


def _run_collect(command: Command) -> int:
    """Runs that the store lacks, all repeats of a configuration by one machine.

    What a piece measured comes back as an exported store and is imported at once, so that an
    interrupted campaign goes on.
    """
    todo = _listed(command)
    store, words = _value(command.words, "--store")
    python, words = _value(words, "--python")
    store = store or "foretrain.db"
    own = ["--work", "do", "--store", "part.db", "--python", python or "{python}", "--json"]
    export = ["store", "export", "--store", "part.db", "-o", "part"]
    groups: dict[int, list[bytes]] = {}
    for line in todo:
        groups.setdefault(json.loads(line)["configuration"], []).append(line)
    as_json = "--json" in words
    words = [word for word in words if word != "--json"]
    sums: dict[str, int] = {"measured": 0, "missing": 0, "left_out": 0}
    if not todo:
        return _tell(command, 0, sums, as_json)
    with contextlib.ExitStack() as stack:
        spreader, words = stack.enter_context(_spreader(command, words))
        progress = stack.enter_context(Progress("runs", len(todo)))
        pieces = [
            Piece([[*words, *own], export], b"".join(lines), len(lines))
            for lines in groups.values()
        ]
        done = 0

        def keep(one: Done) -> None:
            nonlocal done
            done += one.size
            if one.code in (0, 1):
                _keep(one, store, sums)
            progress.show(done)

        nodes = command.at_once or len(cluster.nodes_of(spreader.ray))  # one lab per machine
        for one in spreader.each(pieces, at_once=nodes, on_done=keep):
            if one.code not in (0, 1) or not one.files:
                checked(Done(one.code or 1, one.out, one.err, one.files, one.size))
    return _tell(command, len(todo), sums, as_json)


def _tell(command: Command, listed: int, sums: dict[str, int], as_json: bool) -> int:
    text = (
        f"{listed} runs: {sums['measured']} measured, {sums['missing']} tried without "
        f"success, {sums['left_out']} left out"
    )
    text = json.dumps({"listed": listed, **sums}) if as_json else text
    command.out.write(text.encode() + b"\n")
    command.out.flush()
    return 1 if sums["missing"] + sums["left_out"] else 0


def _keep(one: Done, store: str, sums: dict[str, int]) -> None:
    for line in one.out.splitlines():
        if line.startswith(b"{"):
            told = json.loads(line)
            for name in sums:
                sums[name] += int(told.get(name, 0))
    with tempfile.TemporaryDirectory() as folder:
        _write({n: c for n, c in one.files.items() if n.startswith("part/")}, folder)
        if pathlib.Path(folder, "part", "runs.csv").exists():
            import_measurements(pathlib.Path(folder, "part"), store=store)


def _write(files: dict[str, bytes], folder: str) -> None:
    """Each whole or not at all."""
    for name, content in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_bytes(content)
        partial.replace(path)


def variants(each: list[str]) -> list[dict[str, str]]:
    """Every combination of the values of ``NAME=1..5`` and ``NAME=a,b``."""
    choices = []
    for text in each:
        name, mark, values = text.partition("=")
        span = re.fullmatch(r"(\d+)\.\.(\d+)", values)
        if span and int(span[2]) - int(span[1]) > 10_000:
            raise Error(f"--each {text}: these are too many")
        found = (
            [str(i) for i in range(int(span[1]), int(span[2]) + 1)] if span else values.split(",")
        )
        if not name.isidentifier() or not mark or not all(found):
            raise Error(f"--each takes NAME=1..5 or NAME=a,b, not '{text}'")
        choices.append([(name, value) for value in found])
    return [dict(one) for one in itertools.product(*choices)]


def _run_each(command: Command) -> int:
    """The command once for each value, {NAME} replaced; files that it writes come here."""
    names = {text.partition("=")[0] for text in command.each}
    for name in names:
        if not any("{" + name + "}" in word for word in command.words):
            raise Error(f"--each {name}: no argument holds {{{name}}}")
    wanted = variants(command.each)

    def filled(words: list[str], values: dict[str, str]) -> list[str]:
        for name, value in values.items():
            words = [word.replace("{" + name + "}", value) for word in words]
        return words

    with contextlib.ExitStack() as stack:
        spreader, words = stack.enter_context(_spreader(command, command.words))
        progress = stack.enter_context(Progress(command.words[0], len(wanted)))
        done = 0

        def count(_: Done) -> None:
            nonlocal done
            done += 1
            progress.show(done)

        pieces = [Piece([filled(words, values)]) for values in wanted]
        for one in spreader.each(pieces, at_once=command.at_once, on_done=count):
            _write(checked(one).files, ".")
            command.out.write(one.out)
            command.out.flush()
    return 0

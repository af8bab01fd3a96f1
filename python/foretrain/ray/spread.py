# SPDX-License-Identifier: Apache-2.0
"""The one way in which work goes to a cluster: pieces, done anywhere, told in their order."""

from __future__ import annotations

import hashlib
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import Error
from . import cluster, task
from .parcel import Parcel, pack

_TRIES = 5  # of one piece, where worker or node is lost
_AHEAD = 4  # pieces per CPU that are under way or wait for those before them


@dataclass(frozen=True)
class Piece:
    """Commands of the program, and the lines that the first of them reads."""

    commands: list[list[str]]
    lines: bytes = b""
    size: int = 1  # what it counts for in the progress


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: str
    files: dict[str, bytes]
    size: int


class Spreader:
    """Does pieces on the nodes of a cluster; what they give comes in the order of the pieces."""

    def __init__(self, ray: Any, program: pathlib.Path, sent: Parcel, folders: list[str]) -> None:
        self.ray = ray
        parts = {"foretrain": program}
        fit = program.with_name("foretrain-fit")
        if fit.exists():
            parts["foretrain-fit"] = fit
        ray.cloudpickle.register_pickle_by_value(task)
        self._job = {
            "program": self._put(pack(parts).content),
            "parcel": self._put(sent.content) if sent.content else None,
            "names": sent.names,
            "folders": folders,
        }
        self.lost = 0  # pieces that were begun again

    def _put(self, content: bytes) -> dict[str, Any]:
        # In a list Ray does not fetch it for every piece; a node asks for it once.
        digest = hashlib.sha256(content).hexdigest()
        return {"digest": digest, "content": [self.ray.put(content)]}

    def each(
        self,
        pieces: Iterable[Piece],
        *,
        cpus: float = 1,
        at_once: int | None = None,
        on_done: Callable[[Done], None] | None = None,
    ) -> Iterator[Done]:
        """``on_done`` hears of a piece when it ends, before its turn comes."""
        all_cpus = cluster.cpus_of(self.ray)
        if all_cpus < cpus:
            raise Error(
                f"the cluster has {all_cpus:g} CPUs and a piece of work needs {cpus:g}; start Ray "
                "with --num-cpus",
                "Unsupported",
            )
        most = at_once or max(2, round(2 * all_cpus / cpus))
        return self._in_order(iter(pieces), cpus, most, _AHEAD * most, on_done)

    def _in_order(
        self,
        pieces: Iterator[Piece],
        cpus: float,
        most: int,
        ahead: int,
        on_done: Callable[[Done], None] | None,
    ) -> Iterator[Done]:
        remote = self.ray.remote(num_cpus=cpus, max_retries=_TRIES)(task.do_piece)
        waiting: dict[int, Done] = {}
        running: dict[Any, tuple[int, Piece, int]] = {}
        begun, told, more = 0, 0, True
        try:
            while more or running or waiting:
                while more and len(running) < most and begun - told < ahead:
                    piece = next(pieces, None)
                    if piece is None:
                        more = False
                        break
                    running[self._begin(remote, piece)] = (begun, piece, 1)
                    begun += 1
                if running:
                    ready, _ = self.ray.wait(list(running), num_returns=1, timeout=1)
                    for reference in ready:
                        number, piece, tries = running.pop(reference)
                        done = self._result(reference, piece, tries)
                        if done is None:
                            again = self._begin(remote, piece)
                            running[again] = (number, piece, tries + 1)
                            continue
                        waiting[number] = done
                        if on_done:
                            on_done(done)
                while told in waiting:
                    yield waiting.pop(told)
                    told += 1
        finally:
            for reference in running:
                self.ray.cancel(reference, force=True)

    def _begin(self, remote: Any, piece: Piece) -> Any:
        return remote.remote(self._job, {"commands": piece.commands, "lines": piece.lines})

    def _result(self, reference: Any, piece: Piece, tries: int) -> Done | None:
        """None where worker or node was lost, beyond what Ray itself tries: to be done again."""
        try:
            got = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            cause = " ".join(str(error.cause).split())
            raise Error(f"a piece of work failed on its node: {cause}", "Io") from error
        except self.ray.exceptions.RayError as error:
            self.lost += 1
            if tries >= _TRIES:
                first = str(error).strip().splitlines()[0]
                raise Error(f"a piece of work was lost {tries} times: {first}", "Io") from error
            return None
        err = got["err"].decode("utf-8", "replace")
        return Done(got["code"], got["out"], err, got["files"], piece.size)


def checked(done: Done) -> Done:
    """Ends this program as the piece ended where that was an error."""
    if done.code != 0:
        sys.stderr.write(done.err or f"foretrain: a piece of work ended with code {done.code}\n")
        raise SystemExit(done.code if done.code > 0 else 1)
    return done

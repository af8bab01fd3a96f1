# SPDX-License-Identifier: Apache-2.0
"""One piece of work on a node of the cluster: the program, run on what was sent.

Ray sends this module's text along, so that nodes need Ray alone: it may import nothing of ours.
"""

from __future__ import annotations

import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from typing import Any

_KEPT_S = 7 * 24 * 3600  # that what was sent stays on a node after its last use


def _cache() -> pathlib.Path:
    folder = pathlib.Path(tempfile.gettempdir(), f"foretrain-ray-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder


def _forget_old(cache: pathlib.Path) -> None:
    for entry in cache.iterdir():
        if time.time() - entry.stat().st_mtime > _KEPT_S:
            shutil.rmtree(entry, ignore_errors=True)


def unpacked(parcel: dict[str, Any]) -> pathlib.Path:
    """The folder of what was sent, unpacked once per node: its name is the content's digest."""
    cache = _cache()
    folder: pathlib.Path = cache / parcel["digest"]
    if folder.exists():
        os.utime(folder)
        return folder
    import ray

    content: bytes = ray.get(parcel["content"][0])
    if hashlib.sha256(content).hexdigest() != parcel["digest"]:
        raise OSError("what was sent arrived damaged")
    _forget_old(cache)
    fresh = pathlib.Path(tempfile.mkdtemp(dir=cache, prefix="fresh-"))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(fresh, filter="fully_trusted")
    try:
        fresh.rename(folder)
    except OSError:  # another piece on this node was faster
        shutil.rmtree(fresh)
    return folder


def _place(parcel: pathlib.Path, names: list[str], here: pathlib.Path) -> None:
    """What was sent, at the paths that it has where it came from."""
    for name in names:
        target = here / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(parcel / name)


def _made(here: pathlib.Path) -> dict[str, bytes]:
    """Files that the program wrote; links are what was sent."""
    result = {}
    for folder, folders, files in os.walk(here):
        folders[:] = [f for f in folders if not pathlib.Path(folder, f).is_symlink()]
        for name in files:
            path = pathlib.Path(folder, name)
            if not path.is_symlink():
                result[path.relative_to(here).as_posix()] = path.read_bytes()
    return result


def do_piece(job: dict[str, Any], piece: dict[str, Any]) -> dict[str, Any]:
    """Runs the piece's commands one after the other; the first gets its lines as standard input.

    A command that ends with a code above 1 is the last.
    """
    program = unpacked(job["program"]) / "foretrain"
    here = pathlib.Path(tempfile.mkdtemp(prefix="foretrain-piece-"))
    try:
        if job["parcel"]:
            _place(unpacked(job["parcel"]), job["names"], here)
        for folder in job["folders"]:
            (here / folder).mkdir(parents=True, exist_ok=True)
        code, out, err, given = 0, b"", b"", piece["lines"]
        for words in piece["commands"]:
            words = [sys.executable if word == "{python}" else word for word in words]
            done = subprocess.run(
                [str(program), *words], input=given, capture_output=True, cwd=here, check=False
            )
            out, err, given = out + done.stdout, err + done.stderr, b""
            code = max(code, done.returncode)
            if done.returncode not in (0, 1):
                code = done.returncode
                break
        return {"code": code, "out": out, "err": err, "files": _made(here)}
    finally:
        shutil.rmtree(here, ignore_errors=True)

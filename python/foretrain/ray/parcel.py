# SPDX-License-Identifier: Apache-2.0
"""What a command's arguments name, packed for the nodes."""

from __future__ import annotations

import io
import os
import pathlib
import tarfile
from dataclasses import dataclass, field

from ..errors import Error

_OUTPUTS = {"-o", "--output", "--rows", "--jobs", "--events", "--chart", "--store", "--log"}


@dataclass(frozen=True)
class Parcel:
    """What goes to every node: files and folders at their relative paths, packed."""

    content: bytes = b""
    names: list[str] = field(default_factory=list)


def pack(paths: dict[str, pathlib.Path]) -> Parcel:
    """Files and folders by the names that they are to have; the same content, the same bytes."""
    if not paths:
        return Parcel()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, path in sorted(paths.items()):
            for file in _files(path):
                inner = name if file == path else f"{name}/{file.relative_to(path).as_posix()}"
                _add(archive, inner, file)
    return Parcel(buffer.getvalue(), sorted(paths))


def _files(path: pathlib.Path) -> list[pathlib.Path]:
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file())
    return [path]


def _add(archive: tarfile.TarFile, name: str, file: pathlib.Path) -> None:
    info = tarfile.TarInfo(name)
    info.size = file.stat().st_size
    info.mode = 0o755 if os.access(file, os.X_OK) else 0o644
    with file.open("rb") as content:
        archive.addfile(info, content)


def is_below(word: str) -> bool:
    """Whether a word may be a file to be written below this folder."""
    path = pathlib.PurePath(word)
    plain = "/" in word and not path.is_absolute() and ".." not in path.parts
    return plain and pathlib.Path(word).parent.is_dir()


def find_paths(words: list[str], send: list[str]) -> tuple[dict[str, pathlib.Path], list[str]]:
    """Every argument that is a file or folder here goes along, at the same relative path.

    One that lies elsewhere gets a name of its own, and the argument names that.
    """
    sent: dict[str, pathlib.Path] = {}
    result = words[:1]
    before = ""
    for word in words[1:]:
        option, mark, value = word.rpartition("=") if word.startswith("-") else ("", "", word)
        is_output = before in _OUTPUTS or option in _OUTPUTS
        path = pathlib.Path(value)
        if value and value != "-" and not is_output and path.exists():
            name = _name_of(path, len(sent))
            _send(sent, name, path)
            if name != value and os.path.normpath(value) != name:
                word = option + mark + name
        result.append(word)
        before = word
    for given in send:
        path = pathlib.Path(given)
        if not path.exists():
            raise Error(f"--send: there is no '{given}'", "NotFound")
        if path.is_absolute() or ".." in path.parts:
            raise Error(f"--send: '{given}' does not lie below the current folder")
        _send(sent, os.path.normpath(given), path)
    return sent, result


def _send(sent: dict[str, pathlib.Path], name: str, path: pathlib.Path) -> None:
    sent[name] = path
    log = path.with_name(path.name + "-wal")  # a store in use has the newest rows there
    if log.exists():
        sent[name + "-wal"] = log


def _name_of(path: pathlib.Path, number: int) -> str:
    if path.is_absolute() or ".." in path.parts:
        return f"sent-{number}/{path.name}"
    return os.path.normpath(path)

# SPDX-License-Identifier: Apache-2.0
"""What was measured, into a store and into a calibration."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from . import _core
from .errors import Error


def import_measurements(
    *paths: str | os.PathLike[str],
    store: str | os.PathLike[str] = "foretrain.db",
    request: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Takes files and folders into a store, all of them or nothing.

    JSON lines of :class:`StepRecorder`, traces of torch.profiler (``request`` says what ran), the
    CSV files of docs/store.md, folders that ``foretrain store export`` wrote. Returns what came of
    each: file, table, rows, replaced, skipped.
    """
    asked = "" if request is None else json.dumps(request, default=os.fspath)
    files = [os.fspath(path) for path in paths]
    found: list[dict[str, Any]] = json.loads(_core.import_json(os.fspath(store), files, asked))
    return found


def calibrate(
    data: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    runs: int | None = None,
) -> dict[str, Any]:
    """Finds how fast a machine is by its measured steps and writes that to ``output``.

    ``data`` is a store, a folder that it exported, or JSON lines of steps; ``runs`` takes so many
    of them. The file goes to ``predictors`` of :func:`predict` and :func:`evaluate`. Returns its
    content.
    """
    text = _core.calibrate_json(os.fspath(data), runs)
    try:
        pathlib.Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write '{output}': {error.strerror}", "Io") from error
    found: dict[str, Any] = json.loads(text)
    return found

# SPDX-License-Identifier: Apache-2.0
"""Predictions against measurements."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from . import _core
from .record import Record
from .tables import html_table, text_table


class Evaluation(Record):
    """Error tables of the predictions; errors are in percent."""

    def _table(self) -> tuple[list[str], list[list[str]]]:
        groups = self.to_dict()["groups"]
        header = list(dict.fromkeys(key for group in groups for key in group))
        return header, [[_cell(group.get(key)) for key in header] for group in groups]

    def __repr__(self) -> str:
        header, rows = self._table()
        return text_table(rows, header)

    def _repr_html_(self) -> str:
        header, rows = self._table()
        return html_table(rows, header)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return " ".join(_cell(part) for part in value.values())
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def evaluate(
    data: str | os.PathLike[str],
    *,
    source: str = "",
    by: Sequence[str] | None = None,
    count_refused: bool = False,
    predictors: Sequence[str | os.PathLike[str]] = (),
) -> Evaluation:
    """Predicts every measurement of ``data``: a store, a folder, a file of CSV or of steps.

    ``source`` keeps one file or one entry of the column of that name, ``by`` says what rows are
    grouped by (file, device and metric unless given); with ``count_refused`` a row that is not
    predicted counts as an error of 100 %. ``predictors`` are files that ``fit`` or
    :func:`calibrate` wrote; runs of models that calibrated are not scored.
    """
    keys = None if by is None else list(by)
    files = [os.fspath(file) for file in predictors]
    found = _core.evaluate_json(os.fspath(data), source, keys, count_refused, files)
    return Evaluation(json.loads(found))

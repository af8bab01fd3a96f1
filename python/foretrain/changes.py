# SPDX-License-Identifier: Apache-2.0
"""What would help most: changes of a request with what they gain."""

from __future__ import annotations

from typing import Any, ClassVar

from .record import Record
from .tables import text_table


class JobNumbers(Record):
    """What a prediction says of a job, as far as changes are compared by it."""

    step_time_s: float
    sample_time_s: float
    total_time_s: float | None
    cost: float | None
    peak_bytes: float
    capacity_bytes: float
    fits: bool


class Change(JobNumbers):
    """A change of a request and the job with it; gains are differences to the job as it is."""

    what: str
    change: str
    sample_time_gain_s: float
    speedup: float
    total_time_gain_s: float | None
    cost_gain: float | None
    peak_gain_bytes: float
    command: str

    @property
    def changes(self) -> dict[str, Any]:
        """The fields that change; None stands for one that is left out."""
        return dict(self._fields["changes"])

    @property
    def request(self) -> dict[str, Any]:
        """The whole changed request: ``predict(**change.request)``."""
        return dict(self._fields["request"])


class WhatIf(Record):
    """What would help most: ``what_if`` lists the changes, those that gain most first."""

    now: JobNumbers
    what_if: list[Change]
    _parts: ClassVar[dict[str, type[Record]]] = {"now": JobNumbers, "what_if": Change}

    @property
    def request(self) -> dict[str, Any]:
        """The request as it is."""
        return dict(self._fields["request"])

    def __repr__(self) -> str:
        rows = [(f"x{one.speedup:.2f}", one.what, one.change) for one in self.what_if]
        return text_table(rows)

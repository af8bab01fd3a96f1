# SPDX-License-Identifier: Apache-2.0
"""How far it is, on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """A line on a terminal for what takes more than a second; elsewhere nothing."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what, self._total = what, total
        self._terminal = sys.stderr.isatty()
        self._began = time.monotonic()
        self._next = self._began + 1
        self._shown = False

    def show(self, done: int, note: str = "") -> None:
        now = time.monotonic()
        if not self._terminal or now < self._next:
            return
        self._next, self._shown = now + 0.2, True
        text = f"{self._what}: {done:,}"
        if self._total:
            text += f" of {self._total:,} ({100 * done / self._total:.0f} %)"
            if 0 < done < self._total:
                left_s = (now - self._began) / done * (self._total - done)
                text += f", {left_s:.0f} s left"
        print(f"\r\033[K{text}{', ' + note if note else ''}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

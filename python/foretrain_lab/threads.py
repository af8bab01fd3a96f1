# SPDX-License-Identifier: Apache-2.0
"""Threads with names that the sampler sees."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

_PR_SET_NAME = 15


def start(name: str, work: Callable[..., None], *arguments: Any) -> threading.Thread:
    """A daemon thread called ``name`` in /proc, too (at most 15 letters)."""

    def run() -> None:
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)
        work(*arguments)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread

# SPDX-License-Identifier: Apache-2.0
"""Which function translates which ATen operator."""

from __future__ import annotations

from collections.abc import Callable

from .torch_emitter import Handler

HANDLERS: dict[str, Handler] = {}


def aten(*names: str) -> Callable[[Handler], Handler]:
    """Registers a translation for these operators, named without namespace and overload."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register

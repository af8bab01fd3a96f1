# SPDX-License-Identifier: Apache-2.0
"""The one exception of the package."""

from __future__ import annotations


class Error(Exception):
    """What is wrong, where, and what to do.

    ``kind`` is ``BadInput``, ``NotFound``, ``Unsupported`` or ``Io``.
    """

    def __init__(self, message: str, kind: str = "BadInput") -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return (type(self), (str(self), self.kind))

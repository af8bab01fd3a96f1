# SPDX-License-Identifier: Apache-2.0
"""JSON objects with their fields as attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class Record:
    """A JSON object: its fields are attributes, ``to_dict()`` gives the object back."""

    _parts: ClassVar[dict[str, type[Record]]] = {}  # which fields are records of which class

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._fields:
            known = ", ".join(self._fields)
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {known}")
        return self._wrapped(self._fields[name], self._parts.get(name, Record))

    @staticmethod
    def _wrapped(value: Any, part: type[Record]) -> Any:
        if isinstance(value, dict):
            return part(value)
        if isinstance(value, list):
            return [part(entry) if isinstance(entry, dict) else entry for entry in value]
        return value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({fields})"

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that this was made from."""
        return dict(self._fields)

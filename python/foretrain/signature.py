# SPDX-License-Identifier: Apache-2.0
"""Shows the fields of a request, which the program's own table lists, as keyword arguments."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core, request

Function = TypeVar("Function", bound=Callable[..., Any])

WIDTH = 100


def with_fields(function: Function) -> Function:
    """Replaces ``**request`` in the signature by the fields and lists them in the docstring."""
    rows = [row for row in json.loads(_core.request_fields_json()) if row["name"] != "model"]
    types = request.Request.__annotations__
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    fields = [
        inspect.Parameter(
            row["name"],
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=f"{_text(types[row['name']])} | None",
        )
        for row in rows
    ]
    function.__signature__ = signature.replace(parameters=own + fields)  # type: ignore[attr-defined]
    lines = [line for row in rows for line in _lines(row, "")]
    function.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n\nFields:\n\n" + "\n".join(lines)
    return function


def _text(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))


def _lines(row: dict[str, Any], indent: str) -> list[str]:
    """One field with its meaning, words and default, and those of an object below it."""
    text = f"{row['name']}: {row['help']}"
    if "words" in row:
        text += ": " + ", ".join(row["words"])
    if "default" in row:
        text += f" ({row['default']})"
    lines = textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "    ")
    for inner in row.get("fields", []):
        lines += _lines(inner, indent + "    ")
    return lines

# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from __future__ import annotations

_LARGE = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def number(value: float) -> str:
    """Three significant digits, without an exponent: 0.0123, 1.23, 12,300."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def large(value: float, unit: str = "") -> str:
    """With a decimal prefix: 3.86 GFLOP."""
    for size, prefix in _LARGE:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}".rstrip()
    return f"{value:.3g} {unit}".rstrip()


def size(value: float) -> str:
    """Bytes, in powers of 1000."""
    return large(value, "B")


def seconds(value: float) -> str:
    """From microseconds to days."""
    if value >= 172800:
        return f"{value / 86400:.3g} days"
    if value >= 7200:
        return f"{value / 3600:.3g} h"
    if value >= 120:
        return f"{value / 60:.3g} min"
    for unit, name in _TIMES:
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value * 1e6:.3g} µs" if value else "0 s"


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"

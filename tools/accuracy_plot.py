# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured times as an SVG file: logarithmic axes, one colour per device.

Points that fall on the same pixel are drawn once, so a file stays small however many rows it shows.
"""
import math
import pathlib

from lab_plots import COLOURS, Picture

SIDE = 380  # of the square that holds the points
LEFT, TOP, BOTTOM, LEGEND = 62, 14, 46, 150
BAND = 1.25  # the dashed lines: a factor on either side


def decades(values: list[float]) -> tuple[int, int]:
    """Powers of ten that enclose all values."""
    return math.floor(math.log10(min(values))), max(math.ceil(math.log10(max(values))), math.floor(math.log10(min(values))) + 1)


def label(power: int) -> str:
    if power >= 0:
        return f"{10 ** power:,} s"
    return f"{10 ** (power + 3)} ms" if power >= -3 else f"{10 ** (power + 6)} µs" if power >= -6 else f"{10 ** (power + 9)} ns"


class Axes:
    def __init__(self, low: int, high: int):
        self.low, self.high = low, high

    def place(self, value: float) -> int:
        return round(SIDE * (math.log10(value) - self.low) / (self.high - self.low))

    def x(self, value: float) -> int:
        return LEFT + self.place(value)

    def y(self, value: float) -> int:
        return TOP + SIDE - self.place(value)

    def line(self, factor: float, style: str) -> str:
        """predicted = factor * measured, cut off at the square's edges."""
        start, end = 10.0 ** self.low, 10.0 ** self.high
        first, last = max(start, start / factor), min(end, end / factor)
        return f'<path d="M{self.x(first)} {self.y(first * factor)}L{self.x(last)} {self.y(last * factor)}" {style}/>'


def points(axes: Axes, pairs: list[tuple[float, float]]) -> str:
    """One dot per pixel: strokes of no length with round ends."""
    places = sorted({(axes.x(measured), axes.y(predicted)) for measured, predicted in pairs})
    return "".join(f"M{x} {y}h0" for x, y in places)


def draw_grid(axes: Axes, picture: Picture) -> None:
    for power in range(axes.low, axes.high + 1):
        x, y = axes.x(10.0 ** power), axes.y(10.0 ** power)
        picture.parts.append(f'<path d="M{x} {TOP}V{TOP + SIDE}M{LEFT} {y}H{LEFT + SIDE}" stroke="#ddd"/>')
        picture.text(x, TOP + SIDE + 16, label(power), "middle")
        picture.text(LEFT - 6, y + 4, label(power), "end")


def scatter(series: dict[str, list[tuple[float, float]]], unit: str) -> str:
    """`series`: per device its (measured, predicted) times [s]; `unit`: what a time is of."""
    axes = Axes(*decades([value for pairs in series.values() for pair in pairs for value in pair]))
    picture = Picture()
    draw_grid(axes, picture)
    for factor in (1, BAND, 1 / BAND):
        picture.parts.append(axes.line(factor, 'stroke="#333"' + ("" if factor == 1 else ' stroke-dasharray="4 3"')))
    for place, name in enumerate(sorted(series, key=lambda name: (-len(series[name]), name))):
        colour = COLOURS[place % len(COLOURS)]
        y = TOP + 12 + 16 * place
        picture.parts.append(f'<path d="{points(axes, series[name])}" stroke="{colour}" stroke-width="3" stroke-linecap="round" opacity=".7"/>'
                             f'<circle cx="{LEFT + SIDE + 14}" cy="{y - 4}" r="4" fill="{colour}"/>')
        picture.text(LEFT + SIDE + 24, y, f"{name} ({len(series[name]):,})")
    height = TOP + SIDE + BOTTOM
    picture.text(LEFT + SIDE / 2, height - 8, f"measured time per {unit}", "middle")
    picture.parts.append(f'<text transform="translate(12 {TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">predicted</text>')
    return picture.svg(LEFT + SIDE + LEGEND, height)


def write(path: pathlib.Path, series: dict[str, list[tuple[float, float]]], unit: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scatter(series, unit), encoding="utf-8")

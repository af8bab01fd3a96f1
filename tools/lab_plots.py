# SPDX-License-Identifier: Apache-2.0
"""Pictures of the lab's page, as small SVG files on a white ground."""
import html
import math

from lab_data import METRICS, quantile

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
TITLES = {
    "gpu_util": "device utilisation",
    "gpu_memory_util": "memory utilisation",
    "net_tx": "network transmit",
    "net_rx": "network receive",
    "memory_used": "memory used",
}
METRIC_TITLES = {"amount": "amount in bursts", "burst": "burst lasts", "idle": "idle lasts"}
LINE = 13  # height of a line of text


def title_of(resource: str) -> str:
    return TITLES.get(resource, resource)


def quantity(value: float, unit: str) -> str:
    """Three digits: 62 ms, 113 MB/s, 96 %."""
    if unit == "%":
        return f"{value:.3g} %"
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


class Picture:
    def __init__(self) -> None:
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, anchor: str = "start", weight: str = "") -> None:
        bold = f' font-weight="{weight}"' if weight else ""
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{bold}>{html.escape(words)}</text>')

    def bar(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{colour}"/>'
        )

    def svg(self, width: int, height: int) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'font-family="sans-serif" font-size="11" fill="#222">'
        )
        return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *self.parts, "</svg>"]) + "\n"


class Axis:
    """Values to places: shares from 0 to 100, all else by logarithm."""

    def __init__(self, values: list[float], unit: str, left: float, width: float) -> None:
        self.left, self.width, self.unit = left, width, unit
        positive = [v for v in values if v > 0]
        self.linear = unit == "%" or not positive
        if self.linear:
            self.low, self.high = 0.0, 100.0 if unit == "%" else 1.0
        else:
            self.low, self.high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
            self.high = max(self.high, self.low + 1)

    def place(self, value: float) -> float:
        at = value if self.linear else math.log10(max(value, 10**self.low))
        share = (at - self.low) / (self.high - self.low)
        return self.left + self.width * min(max(share, 0.0), 1.0)

    def ticks(self) -> list[float]:
        if self.linear:
            return [self.low, self.high]
        return [10.0**power for power in range(int(self.low), int(self.high) + 1)]


def draw_axis(picture: Picture, axis: Axis, top: float, bottom: float) -> None:
    marks = axis.ticks()
    for mark in marks:
        picture.bar(axis.place(mark), top, 0.5, bottom - top, "#ccc")
    for mark, anchor in ((marks[0], "start"), (marks[-1], "end")):
        picture.text(axis.place(mark), bottom + 10, quantity(mark, axis.unit), anchor)


def draw_box(picture: Picture, axis: Axis, y: float, values: list[float], colour: str) -> None:
    """A line from the 10th to the 90th percentile, a box of the middle half, the median."""
    p10, p25, p50, p75, p90 = (axis.place(quantile(values, q)) for q in (0.1, 0.25, 0.5, 0.75, 0.9))
    picture.bar(p10, y - 0.5, p90 - p10, 1, colour)
    picture.bar(p25, y - 3.5, p75 - p25, 7, colour)
    picture.bar(p50 - 1, y - 4.5, 2, 9, "#000")


def boxes(spread: dict[tuple, list[float]], role: str, units: dict[str, str], groups: list[str]) -> str:
    """A cell per resource and metric with a box for each group."""
    resources = [r for r in TITLES if any(key[:2] == (role, r) for key in spread)]
    left, width, gap = 130, 190, 24
    picture = Picture()
    height = LINE * (len(groups) + 3)
    for column, metric in enumerate(METRICS):
        picture.text(left + column * (width + gap), LINE, METRIC_TITLES[metric], weight="bold")
    for row, resource in enumerate(resources):
        top = 2 * LINE + row * height
        picture.text(4, top, title_of(resource), weight="bold")
        for index, group in enumerate(groups):
            picture.text(4, top + LINE * (index + 1), group)
        for column, metric in enumerate(METRICS):
            values = [v for g in groups for v in spread.get((role, resource, g, metric), [])]
            if not values:
                continue
            unit = units[resource] if metric == "amount" else "s"
            axis = Axis(values, unit, left + column * (width + gap), width)
            draw_axis(picture, axis, top + 3, top + LINE * (len(groups) + 0.5))
            for index, group in enumerate(groups):
                if of_group := spread.get((role, resource, group, metric)):
                    y = top + LINE * (index + 1) - 4
                    draw_box(picture, axis, y, of_group, COLOURS[index % len(COLOURS)])
    return picture.svg(left + 3 * (width + gap), 2 * LINE + len(resources) * height)


def stacks(counts: dict, order: list[tuple[str, str]]) -> str:
    """A bar of shares for each role and resource."""
    colours = {"I": "#56b4e9", "BIB": "#0072b2", "B": "#d55e00"}
    left, width = 210, 460
    picture = Picture()
    for index, (pattern, colour) in enumerate(colours.items()):
        picture.bar(left + 70 * index, 4, 10, 10, colour)
        picture.text(left + 70 * index + 14, LINE, pattern)
    for row, key in enumerate(order):
        y = 2 * LINE + row * 18
        picture.text(4, y + 11, f"{key[0]}: {title_of(key[1])}")
        x, total = float(left), counts[key].total()
        for pattern, colour in colours.items():
            share = width * counts[key][pattern] / total
            if share > 0:
                picture.bar(x, y, share, 14, colour)
            x += share
    return picture.svg(left + width + 10, 2 * LINE + 18 * len(order) + 4)


def noise_bars(lines: list[tuple[str, dict[str, float | None]]]) -> str:
    """Per line a bar for quiet runs and one for those with foreign load."""
    colours = {"quiet": "#009e73", "loaded": "#d55e00"}
    left, width = 230, 400
    top = max([v for _, of_line in lines for v in of_line.values() if v is not None], default=0.01)
    picture = Picture()
    for index, (kind, words) in enumerate((("quiet", "quiet runs"), ("loaded", "with foreign load"))):
        picture.bar(left + 90 * index, 4, 10, 10, colours[kind])
        picture.text(left + 90 * index + 14, LINE, words)
    for row, (label, of_line) in enumerate(lines):
        y = 2 * LINE + row * 28
        picture.text(4, y + 15, label)
        for index, kind in enumerate(colours):
            value = of_line.get(kind)
            if value is None:
                continue
            picture.bar(left, y + 11 * index, width * value / top, 10, colours[kind])
            picture.text(left + width * value / top + 4, y + 11 * index + 9, f"{100 * value:.1f} %")
    return picture.svg(left + width + 60, 2 * LINE + 28 * len(lines) + 4)

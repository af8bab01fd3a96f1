# SPDX-License-Identifier: Apache-2.0
"""Pictures of docs/inspector.md beside the scatter plots: how errors fall with the data of a new setting."""
import math

from lab_plots import COLOURS, Picture

SIDE, LEFT, TOP, BOTTOM, GAP, LEGEND = 230, 54, 30, 44, 60, 150
STYLES = {"transfer": "", "scratch": ' stroke-dasharray="5 4"'}


class Panel:
    """A square with the data on a logarithmic axis and errors on a linear one."""

    def __init__(self, left: float, most_x: int, least_x: int, most_y: float):
        self.left, self.most_y = left, most_y
        self.low, self.high = math.log(least_x), math.log(max(most_x, least_x + 1))

    def x(self, value: float) -> float:
        return self.left + SIDE * (math.log(value) - self.low) / (self.high - self.low)

    def y(self, value: float) -> float:
        return TOP + SIDE * (1 - min(value, self.most_y) / self.most_y)


def draw_axes(picture: Picture, panel: Panel, title: str, marks_x: list[int], step_y: float) -> None:
    picture.text(panel.left + SIDE / 2, TOP - 12, title, "middle", "bold")
    for mark in marks_x:
        picture.bar(panel.x(mark), TOP, 0.5, SIDE, "#ddd")
        picture.text(panel.x(mark), TOP + SIDE + 16, f"{mark}", "middle")
    for i in range(round(panel.most_y / step_y) + 1):
        value = i * step_y
        picture.bar(panel.left, panel.y(value), SIDE, 0.5, "#ddd")
        picture.text(panel.left - 6, panel.y(value) + 4, f"{100 * value:.0f} %", "end")
    picture.text(panel.left + SIDE / 2, TOP + SIDE + 34, "architectures of the new setting", "middle")


def draw_line(picture: Picture, panel: Panel, points: list[tuple[int, float]], colour: str, style: str) -> None:
    path = "L".join(f"{panel.x(x):.1f} {panel.y(y):.1f}" for x, y in points)
    picture.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.6"{style}/>')
    for x, y in points:
        picture.parts.append(f'<circle cx="{panel.x(x):.1f}" cy="{panel.y(y):.1f}" r="2.5" fill="{colour}"/>')


def curves(panels: dict[str, dict[tuple[str, str], list[tuple[int, float]]]]) -> str:
    """`panels`: by title, and by (side, setting) the points (architectures, mean error)."""
    lines = [line for of_panel in panels.values() for line in of_panel.values()]
    counts = sorted({x for line in lines for x, _ in line})
    highest = max(y for line in lines for _, y in line)
    step = 0.1 if highest <= 0.6 else 0.2
    most_y = step * math.ceil(highest / step)
    settings = sorted({setting for of_panel in panels.values() for _, setting in of_panel})
    picture = Picture()
    for place, (title, of_panel) in enumerate(panels.items()):
        panel = Panel(LEFT + place * (SIDE + GAP), counts[-1], counts[0], most_y)
        draw_axes(picture, panel, title, counts, step)
        for (side, setting), points in of_panel.items():
            draw_line(picture, panel, points, COLOURS[settings.index(setting) % len(COLOURS)], STYLES[side])
    left = LEFT + len(panels) * (SIDE + GAP) - GAP + 16
    for place, setting in enumerate(settings):
        picture.bar(left, TOP + 16 * place + 4, 14, 3, COLOURS[place % len(COLOURS)])
        picture.text(left + 20, TOP + 16 * place + 9, setting)
    for place, (side, style) in enumerate(STYLES.items()):
        y = TOP + 16 * (len(settings) + 1 + place) + 6
        picture.parts.append(f'<path d="M{left} {y}h14" stroke="#222"{style}/>')
        picture.text(left + 20, y + 4, "transferred" if side == "transfer" else "from scratch")
    return picture.svg(round(left + LEGEND), TOP + SIDE + BOTTOM)

# SPDX-License-Identifier: Apache-2.0
"""Writes what was measured into docs/embedding.md, and its pictures.

    python3 tools/write_embedding.py DOCS [--evidence FILE] [--times FILE]

from the numbers of foretrain_train.evidence and of tools/embedding_times.py; what is not given stays as it is.
"""
import argparse
import html
import json
import pathlib
import statistics

from embedding_sections import draw_curve, percent, times_sections
from lab_plots import Picture
from wrap_docs import wrap

MARKS = ("circle", "square", "diamond", "triangle")
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8b5a2b")
SIDE, MARGIN, LEGEND, LEAST = 560, 30, 190, 4  # LEAST: members of a family that gets a colour
INPUTS = {
    "graph": "states after the sweeps over the graph",
    "nodes": "each node's own kind and sizes, no messages",
    "none": "nothing: the same state for every node",
}
START = "<!-- written by tools/write_embedding.py: begin -->"
END = "<!-- end -->"
TIMES = "<!-- times, written by tools/write_embedding.py: begin -->"


def spread(values: list[float]) -> str:
    mean = percent(statistics.mean(values))
    return mean if len(values) < 2 else f"{mean} ± {100 * statistics.stdev(values):.1f}"


def compare_table(rows: list[dict]) -> str:
    lines = ["| what the decoder sees | mean accuracy | lowest tenth below | seeds |", "|---|---|---|---|"]
    for kind, meaning in INPUTS.items():
        own = [row["accuracies"] for row in rows if row["input"] == kind]
        if not own:
            continue
        tenths = [sorted(one)[len(one) // 10] for one in own]
        means = [statistics.mean(one) for one in own]
        lines.append(f"| {meaning} | {spread(means)} | {spread(tenths)} | {len(own)} |")
    return "\n".join([*lines, "| chance | 10.0 % | | |"])


def compare_section(rows: list[dict]) -> str:
    if not rows:
        return "What the graph is worth was not measured: no runs of `foretrain_train.compare` were at hand."
    return f"""What the graph is worth: a training of {rows[0]['steps']} steps, on the weights alone, with what the decoder
sees changed. Means over the {len(rows[0]['accuracies'])} architectures, ± the deviation between seeds where there are
several:

{compare_table(rows)}"""


def retrieval_table(rows: dict) -> str:
    lines = ["| features | nearest is of the family | mean average precision |", "|---|---|---|"]
    for name, row in rows.items():
        lines.append(f"| {name} | {percent(row['nearest'])} | {row['average_precision']:.3f} |")
    return "\n".join(lines)


def what_weights_add(rows: dict) -> str:
    gain = rows["hypernetwork"]["average_precision"] - rows["self-supervised alone"]["average_precision"]
    if gain > 0.01:
        return f"To generate weights beside that adds {gain:.3f} of precision."
    return "To generate weights beside that does not find families better."


def mark(shape: str, x: float, y: float, colour: str) -> str:
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.75"/>'
    corners = {
        "square": ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)),
        "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
        "triangle": ((0, -5), (4.5, 4), (-4.5, 4)),
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}" fill-opacity="0.75"/>'


def families_of(points: list[list]) -> dict[str, tuple[str, str]]:
    """Colour and shape of each family with enough members, the largest first."""
    counts: dict[str, int] = {}
    for _, family, _, _ in points:
        counts[family] = counts.get(family, 0) + 1
    large = sorted((f for f in counts if counts[f] >= LEAST), key=lambda f: (-counts[f], f))
    return {f: (PALETTE[i % len(PALETTE)], MARKS[i // len(PALETTE) % len(MARKS)]) for i, f in enumerate(large)}


def draw_map(points: list[list]) -> str:
    picture = Picture()
    styles = families_of(points)
    xs, ys = [p[2] for p in points], [p[3] for p in points]

    def place(value: float, values: list[float]) -> float:
        return MARGIN + (SIDE - 2 * MARGIN) * (value - min(values)) / (max(values) - min(values))

    for name, family, x, y in sorted(points, key=lambda p: p[1] in styles):
        colour, shape = styles.get(family, ("#cccccc", "circle"))
        drawn = mark(shape, place(x, xs), SIDE - place(y, ys), colour)
        picture.parts.append(f"<g><title>{html.escape(name)} ({family})</title>{drawn}</g>")
    for row, (family, (colour, shape)) in enumerate([*styles.items(), ("others", ("#cccccc", "circle"))]):
        picture.parts.append(mark(shape, SIDE + 14, MARGIN + 17 * row, colour))
        picture.text(SIDE + 26, MARGIN + 17 * row + 4, family)
    return picture.svg(SIDE + LEGEND, max(SIDE, MARGIN + 17 * (len(styles) + 2)))


def sections(evidence: dict) -> str:
    held = evidence["held_out"]
    speed = evidence["speed"]
    cold = ", ".join(f"{name} {1e3 * seconds:.0f} ms" for name, seconds in speed["cold_s"].items())
    retrieval = evidence["retrieval"]
    told = "An encoder that learned the self-supervised targets alone was not trained for this table."
    if evidence["targets_steps"] and "self-supervised alone" in retrieval:
        told = (f"The self-supervised encoder learned for {evidence['targets_steps']:,} steps to tell sizes and "
                f"operators, and no weights. {what_weights_add(retrieval)}")
    models = next(iter(retrieval.values()))["models"]
    return f"""## It is a hypernetwork

The shipped one was trained for {evidence['steps']:,} of its schedule's {evidence['schedule']:,} steps
({evidence['cpu_s'] / 60:.1f} minutes of one slow core) on {evidence['classifiers']:,} random classifiers and
{evidence['others']:,} other graphs. {len(held)} architectures that no step trained, with generated weights
and no training of their own, classify the 450 images of the test:
**{percent(statistics.mean(held))}** on average, median {percent(statistics.median(held))}, the lowest tenth below
{percent(sorted(held)[len(held) // 10])}, {percent(sum(a > 0.2 for a in held) / len(held))} of them above twice chance.

{compare_section(evidence['compare'])}

## Families lie together

For each of the {models} built-in models whose family has others: whether the nearest other model is of its family, and
the mean average precision when all others are ranked by distance. No published model was part of the training. Some
built-in models are one graph under two names (bert-base and bert-base-uncased), which raises every row alike. {told}

{retrieval_table(retrieval)}

![The zoo on the two directions of most variance](embedding_map.svg)

The map shows the built-in models on the two directions of most variance of their embeddings, which hold
{percent(evidence['map_shares'][0])} and {percent(evidence['map_shares'][1])} of it. A point's name shows under the
pointer.

## Speed

CPU time of one call, from start to end: {cold}. Many small models in one call, their graphs built anew:
{speed['bulk_per_s']:,.0f} per second and core."""


def replace(page: str, start: str, text: str) -> str:
    """The page with what is between the mark and the next end in place of what was there."""
    before, found, rest = page.partition(start)
    if not found:
        raise SystemExit(f"embedding.md: no line {start}")
    return f"{before}{start}\n\n{text}\n\n{END}{rest.partition(END)[2]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=pathlib.Path)
    parser.add_argument("--evidence", type=pathlib.Path)
    parser.add_argument("--times", type=pathlib.Path)
    given = parser.parse_args()
    file = given.docs / "embedding.md"
    page = file.read_text()
    if given.evidence:
        evidence = json.loads(given.evidence.read_text())
        page = replace(page, START, sections(evidence))
        (given.docs / "embedding_map.svg").write_text(draw_map(evidence["map"]))
    if given.times:
        times = json.loads(given.times.read_text())
        page = replace(page, TIMES, times_sections(times))
        if times.get("timm", {}).get("curve"):
            (given.docs / "embedding_curve.svg").write_text(draw_curve(times["timm"]["curve"]))
    file.write_text(wrap(page))


if __name__ == "__main__":
    main()

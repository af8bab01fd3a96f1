# SPDX-License-Identifier: Apache-2.0
"""What-if questions against the truth: measured jobs of one architecture that differ in one thing.

    python3 tools/inspector_what_if.py ROWS.csv

reads what `foretrain evaluate --resources --rows ROWS.csv` wrote and prints how often the predicted change of each
number has the sign of the measured one, where the measured change exceeds the noise.
"""
import collections
import csv
import itertools
import json
import math
import pathlib
import statistics
import sys

from inspector_scores import RESOURCES, deviations, twelve

TARGET = 0.92  # share of the signs that shall be right
BEYOND = 2  # a change counts above so many times the noise
LEAST = 5  # changes of a cell that is judged
NUMBERS = [*twelve("worker"), *twelve("server"), "step_time_s", "worker.memory_used", "wall_s"]
KINDS = {
    "device": "share of a core",
    "network": "network",
    "strategy": "all-reduce or servers",
    "asynchronous": "synchronous or not",
    "servers": "servers",
    "workers": "workers",
    "batch": "batch size",
    "optimizer": "optimizer",
}


def kind_of(a: dict, b: dict) -> str | None:
    """The one thing in which two requests differ; None where it is none or more."""
    keys = [key for key in a.keys() | b.keys() if a.get(key) != b.get(key) and key != "workers_per_node"]
    if len(keys) != 1:
        return None
    if keys != ["strategy"]:
        return keys[0]
    first, second = a.get("strategy") or {}, b.get("strategy") or {}
    parts = [key for key in first.keys() | second.keys() if first.get(key) != second.get(key)]
    if "kind" in parts:
        return "strategy"
    return parts[0] if len(parts) == 1 else None


def noise_of(rows: list[dict]) -> dict[str, float]:
    """Of each number the mean |log(run / median of the other runs)| over all jobs with repeats."""
    found = collections.defaultdict(list)
    for row in rows:
        found[row["number"]] += map(abs, deviations(row))
    return {number: statistics.fmean(values) for number, values in found.items() if values}


def level_of(number: str, noise: dict[str, float]) -> float | None:
    """The noise of a number; of a server's the worker's where no server was measured twice, of a job the step's."""
    other = "step_time_s" if number == "wall_s" else number.replace("server.", "worker.")
    return noise.get(number, noise.get(other))


class Change:
    """Of one number from one job to another, as logarithms of ratios."""

    def __init__(self, kind: str, a: dict, b: dict, level: float):
        self.kind, self.number, self.model = kind, a["number"], a["model"]
        self.pair = (a["model"], a["request"], b["request"])
        self.measured = math.log(float(b["measured"]) / float(a["measured"]))
        told = [float(row["predicted"] or 0) for row in (a, b)]
        self.predicted = math.log(told[1] / told[0]) if min(told) > 0 else None  # None: one is not predicted
        # The noise is that of two single runs; medians of several differ less.
        self.noise = level * math.sqrt((1 / int(a["repeats"]) + 1 / int(b["repeats"])) / 2)

    def exceeds(self, times: float) -> bool:
        return abs(self.measured) > times * self.noise

    def is_right(self) -> bool:
        return self.predicted is not None and self.predicted * self.measured > 0


def changes_of(rows: list[dict], noise: dict[str, float]) -> list[Change]:
    groups = collections.defaultdict(list)
    for row in rows:
        if row["number"] in NUMBERS:
            groups[row["model"], row["number"]].append((json.loads(row["request"]), row))
    changes = []
    for (_, number), jobs in groups.items():
        level = level_of(number, noise)
        for (first, a), (second, b) in itertools.combinations(jobs, 2):
            kind = kind_of(first, second)
            if kind and level is not None:
                changes.append(Change(kind, a, b, level))
    return changes


def right_share(changes: list[Change], times: float = BEYOND) -> tuple[int, int]:
    """How many signs are right, of how many changes beyond the noise."""
    seen = [change for change in changes if change.exceeds(times)]
    return sum(change.is_right() for change in seen), len(seen)


def share_text(right: int, seen: int) -> str:
    return f"{100 * right / seen:.1f} % of {seen}" if seen else "-"


def count_text(right: int, seen: int) -> str:
    return f"{right}/{seen}" if seen else "-"


def columns_of(number: str) -> str:
    """The column of the table that a number belongs to; a whole job's length counts as its steps do."""
    if number == "wall_s":
        return "step_time"
    return RESOURCES[number.split(".")[1]] if number.count(".") == 2 else number.split(".")[-1].replace("_s", "")


def table_rows(changes: list[Change]) -> tuple[list[str], list[list[str]]]:
    columns = [*RESOURCES.values(), "step_time", "memory_used"]
    body = []
    for kind in [*KINDS, None]:
        some = [change for change in changes if kind is None or change.kind == kind]
        if not some:
            continue
        name = KINDS[kind] if kind else "all"
        pairs = len({change.pair for change in some})
        cells = [count_text(*right_share([c for c in some if columns_of(c.number) == column])) for column in columns]
        body.append([name, f"{pairs}", *cells, share_text(*right_share(some))])
    titles = ["step" if column == "step_time" else "memory used" if column == "memory_used" else column
              for column in columns]  # fmt: skip
    return ["change of", "pairs", *titles, "all"], body


def weak_cells(changes: list[Change]) -> list[tuple[str, str, int, int]]:
    """Kinds and numbers of at least LEAST changes that miss the target, the weakest first."""
    cells = collections.defaultdict(list)
    for change in changes:
        cells[change.kind, change.number].append(change)
    found = [(kind, number, *right_share(some)) for (kind, number), some in cells.items()]
    weak = [cell for cell in found if cell[3] >= LEAST and cell[2] < TARGET * cell[3]]
    return sorted(weak, key=lambda cell: (cell[2] / cell[3], cell[0], cell[1]))


def kinds_without_pairs(changes: list[Change]) -> list[str]:
    seen = {change.kind for change in changes}
    return [name for kind, name in KINDS.items() if kind not in seen]


def main() -> None:
    with pathlib.Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    changes = changes_of(rows, noise_of(rows))
    header, body = table_rows(changes)
    for line in [header, *body]:
        print("  ".join(cell.ljust(14) for cell in line).rstrip())
    print("all changes beyond the noise itself:", share_text(*right_share(changes, 1)))
    print("no pair differs only in:", ", ".join(kinds_without_pairs(changes)) or "-")
    for kind, number, right, seen in weak_cells(changes):
        print(f"weak: {KINDS[kind]}: {number}: {right} of {seen}")


if __name__ == "__main__":
    main()

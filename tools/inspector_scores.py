# SPDX-License-Identifier: Apache-2.0
"""Errors of predicted bursts and idles from the rows of `evaluate --resources --rows`, as the paper has them."""
import collections
import math
import random
import statistics

RESOURCES = {"gpu_util": "device", "gpu_memory_util": "memory", "net_tx": "Tx", "net_rx": "Rx"}
NUMBERS = {"burst_amount": "amount", "burst_s": "burst", "idle_s": "idle"}  # of the paper
DRAWS = 2000
SEED = 1


def twelve(role: str = "worker") -> list[str]:
    return [f"{role}.{resource}.{number}" for resource in RESOURCES for number in NUMBERS]


def of_setting(rows: list[dict], setting: str, numbers: list[str] | None = None) -> list[dict]:
    wanted = set(numbers or twelve())
    return [row for row in rows if row["setting"] == setting and row["number"] in wanted]


def error_of(row: dict) -> float:
    """|predicted / measured - 1|; 1 where nothing is predicted."""
    return abs(float(row["predicted"]) / float(row["measured"]) - 1) if row["predicted"] else 1.0


def nrmse(rows: list[dict]) -> float | None:
    """Of one number: the root mean square error over the largest measured value."""
    if not rows:
        return None
    squares = [(float(row["predicted"] or 0) - float(row["measured"])) ** 2 for row in rows]
    return math.sqrt(statistics.fmean(squares)) / max(float(row["measured"]) for row in rows)


def nrmse_of_each(rows: list[dict]) -> dict[str, float]:
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["number"]].append(row)
    return {number: nrmse(some) for number, some in groups.items()}


def mean_nrmse(rows: list[dict]) -> float | None:
    """The paper's metric: the mean over its twelve numbers, those of them that were measured."""
    found = nrmse_of_each(rows)
    return statistics.fmean(found.values()) if found else None


def mean_error(rows: list[dict]) -> float | None:
    return statistics.fmean(map(error_of, rows)) if rows else None


def resource_of(row: dict) -> str:
    return row["number"].split(".")[1]


def mean_of_resources(rows: list[dict], measure) -> float | None:
    """Each resource counts alike."""
    found = [measure([row for row in rows if resource_of(row) == name]) for name in RESOURCES]
    found = [value for value in found if value is not None]
    return statistics.fmean(found) if found else None


def log_rmse(rows: list[dict]) -> float | None:
    logs = [math.log(float(row["predicted"]) / float(row["measured"])) for row in rows
            if row["predicted"] and float(row["predicted"]) > 0]  # fmt: skip
    return math.sqrt(statistics.fmean(x * x for x in logs)) if logs else None


def deviations(row: dict) -> list[float]:
    """log(run / median of the other runs) of every run of a job."""
    runs = [float(text) for text in row["runs"].split()]
    found = []
    for i, value in enumerate(runs):
        others = statistics.median(runs[:i] + runs[i + 1:]) if len(runs) > 1 else 0
        if others > 0 and value > 0:
            found.append(math.log(value / others))
    return found


def floor_errors(rows: list[dict]) -> list[float]:
    return [abs(math.exp(deviation) - 1) for row in rows for deviation in deviations(row)]


def interval(rows: list[dict], measure, share: float = 0.9) -> tuple[float, float] | None:
    """By bootstrap over architectures: a draw takes as many as there are, with all their jobs, with replacement."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["model"]].append(row)
    models = sorted(groups)
    if len(models) < 3:
        return None
    draw = random.Random(SEED)
    found = []
    for _ in range(DRAWS):
        value = measure([row for model in draw.choices(models, k=len(models)) for row in groups[model]])
        if value is not None:
            found.append(value)
    found.sort()
    tail = (1 - share) / 2
    return found[int(tail * len(found))], found[min(len(found) - 1, int((1 - tail) * len(found)))]


def ratio_interval(rows: list[dict], others: list[dict], measure, share: float = 0.9) -> tuple[float, float] | None:
    """Of measure(rows) / measure(others), where both see the same draws of architectures."""
    tagged = [dict(row, which=0) for row in rows] + [dict(row, which=1) for row in others]

    def ratio(drawn: list[dict]) -> float | None:
        parts = [measure([row for row in drawn if row["which"] == which]) for which in (0, 1)]
        return parts[0] / parts[1] if all(parts) else None

    return interval(tagged, ratio, share)

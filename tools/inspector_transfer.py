# SPDX-License-Identifier: Apache-2.0
"""Transfer to the other settings against training from scratch, over the share of the setting's data.

    python3 tools/inspector_transfer.py PROGRAM DATA KEEP

trains what KEEP does not hold yet, and prints tables. Both sides see the same drawn architectures and stop by the
same rule. The network starts from one that was trained in the base setting, as the paper has it; the default model
from one that was fitted in all settings but the target.
"""
import collections
import csv
import json
import pathlib
import statistics

from inspector_runs import BASE, Runs, Scores, runs_of_arguments

FRACTIONS = (0.1, 0.3, 1.0)
SEEDS = (1,)
LEAST = 3  # architectures: to train on, to stop by, for intervals
FOLDS = 5
STOP = ["--epochs", "400", "--patience", "40"]  # of networks, on both sides
PARTITIONS = ("driple", "repeated+mlp", "repeated+gru", "mlp", "all")
MODELS = ("network", "default")
SIDES = ("transfer", "scratch")


def architectures(data: pathlib.Path) -> dict[str, dict[str, int]]:
    """By setting and split, those whose resources were measured."""
    with (data / "metrics.csv").open(encoding="utf-8", newline="") as file:
        recorded = {row["run"] for row in csv.DictReader(file)}
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    with (data / "runs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok" and not row["wall_s"] and row["id"] in recorded:
                found[row["setting"]][row["split"]].add(json.loads(row["request"])["model"])
    return {setting: {split: len(models) for split, models in splits.items()} for setting, splits in found.items()}


def targets(data: pathlib.Path) -> tuple[list[str], list[str]]:
    """Settings that can be transferred to, and those with too few architectures."""
    counts = architectures(data)
    enough = [name for name, splits in counts.items()
              if name != BASE and splits.get("train", 0) >= LEAST and splits.get("test", 0) >= LEAST]  # fmt: skip
    return enough, [name for name in counts if name != BASE and name not in enough]


def drawn(count: int, fraction: float) -> tuple[int, list[str]]:
    """So many of `count` architectures, with the options that draw them; folds never outnumber them."""
    used = min(count, max(LEAST, round(fraction * count)))
    return used, ["--fraction", f"{used / count:.4f}", "--folds", f"{min(FOLDS, used)}"]


def network_base(runs: Runs, seed: int) -> pathlib.Path:
    return runs.fit("--method", "network", "--setting", BASE, *STOP, "--seed", f"{seed}", network=True)


def default_base(runs: Runs, setting: str, settings: list[str]) -> pathlib.Path:
    return runs.fit("--setting", ",".join(name for name in [BASE, *settings] if name != setting))


def fitted(runs: Runs, model: str, side: str, setting: str, share: list[str], seed: int,
           settings: list[str]) -> pathlib.Path:  # fmt: skip
    options = ["--setting", setting, *share, "--seed", f"{seed}"]
    if model == "network":
        if side == "scratch":
            return runs.fit("--method", "network", *options, *STOP, "--least", "1", network=True)
        return runs.transfer(network_base(runs, 1), *options, *STOP, network=True)
    if side == "scratch":
        return runs.fit(*options, "--least", "2")
    return runs.transfer(default_base(runs, setting, settings), *options)


def curve(runs: Runs, settings: list[str]) -> dict[tuple, Scores]:
    """Points by (model, side, setting, fraction)."""
    counts = architectures(runs.data)
    points = collections.defaultdict(Scores)
    for model in MODELS:
        for setting in settings:
            for fraction in FRACTIONS:
                used, share = drawn(counts[setting]["train"], fraction)
                for side in SIDES:
                    point = points[model, side, setting, fraction]
                    point.architectures = used
                    for seed in SEEDS:
                        folder = fitted(runs, model, side, setting, share, seed, settings)
                        point.add(runs, folder, setting)
    return dict(points)


def as_it_was(runs: Runs, settings: list[str]) -> dict[tuple[str, str], Scores]:
    """What the base says of the setting before any transfer."""
    points = {}
    for setting in settings:
        for model, base in (("network", network_base(runs, 1)), ("default", default_base(runs, setting, settings))):
            points[model, setting] = Scores()
            points[model, setting].add(runs, base, setting)
    return points


def partitions(runs: Runs, settings: list[str]) -> dict[str, dict[str, Scores]]:
    """By partition and setting, with all of the setting's data."""
    counts = architectures(runs.data)
    found = {}
    for partition in PARTITIONS:
        found[partition] = {}
        for setting in settings:
            _, share = drawn(counts[setting]["train"], 1.0)
            point = found[partition][setting] = Scores()
            options = ["--setting", setting, *share, "--seed", "1", *STOP]
            if partition != "driple":  # the default: so the curve's run is this one
                options += ["--partition", partition]
            point.add(runs, runs.transfer(network_base(runs, 1), *options, network=True), setting)
    return found


def mean(values: list[float]) -> float:
    return statistics.fmean(values)


def time_ratios(points: dict[tuple, Scores], settings: list[str]) -> dict[str, float]:
    """Scratch over transfer, processor time of a network with all of the data."""
    return {setting: mean(points["network", "scratch", setting, 1.0].told("processor_s"))
            / mean(points["network", "transfer", setting, 1.0].told("processor_s")) for setting in settings}  # fmt: skip


def share_needed(points: dict[tuple, Scores], model: str, setting: str, fractions=FRACTIONS) -> float | None:
    """The share of the architectures with which a transfer's mean error is at most that of scratch with all; between
    two shares by a straight line in the logarithm of the architectures. None: not even all of them."""
    goal = mean(points[model, "scratch", setting, 1.0].error)
    whole = points[model, "scratch", setting, 1.0].architectures
    before = None
    for fraction in fractions:
        point = points[model, "transfer", setting, fraction]
        here = (point.architectures / whole, mean(point.error))
        if here[1] <= goal:
            if before is None or before[1] == here[1]:
                return here[0]
            part = (before[1] - goal) / (before[1] - here[1])
            return before[0] * (here[0] / before[0]) ** part
        before = here
    return None


def main() -> None:
    runs = runs_of_arguments(__doc__)
    settings, few = targets(runs.data)
    points = curve(runs, settings)
    for (model, side, setting, fraction), point in points.items():
        print(f"{model:8} {side:9} {setting:16} {fraction:4.0%} of the data, {point.architectures:3} architectures: "
              f"NRMSE {mean(point.nrmse):.3f}, error {mean(point.error):6.1%}, {mean(point.told('processor_s')):6.1f} s")  # fmt: skip
    print("time, scratch / transfer:", {name: round(value, 2) for name, value in time_ratios(points, settings).items()})
    for model in MODELS:
        print(f"share of the data needed by {model}:", {name: share_needed(points, model, name) for name in settings})
    for partition, of_setting_ in partitions(runs, settings).items():
        print(partition, {name: round(mean(point.nrmse), 3) for name, point in of_setting_.items()})
    print("too few architectures:", ", ".join(few) or "-")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The section of docs/inspector.md on transfer."""
import statistics

import inspector_plots
import inspector_transfer as transfer
from inspector_runs import Runs
from inspector_sections import number, percent
from write_accuracy import table


def curve_table(points: dict, before: dict, settings: list[str], model: str) -> list[str]:
    body = []
    for setting in settings:
        first = before[model, setting]
        body.append([setting, "as it was", "0", number(transfer.mean(first.nrmse)),
                     percent(transfer.mean(first.error)), percent(transfer.mean(first.answered)), "", ""])  # fmt: skip
        for fraction in transfer.FRACTIONS:
            for side in transfer.SIDES:
                point = points[model, side, setting, fraction]
                network = model == "network"
                body.append([setting, f"{side}, {100 * fraction:.0f} %", f"{point.architectures}",
                             number(transfer.mean(point.nrmse)), percent(transfer.mean(point.error)),
                             percent(transfer.mean(point.answered)),
                             f"{transfer.mean(point.told('epochs')):.0f}" if network else "",
                             f"{transfer.mean(point.told('processor_s')):.1f} s" if network else ""])  # fmt: skip
    header = ["setting", "how, share of the data", "architectures", "NRMSE", "mean error", "in domain", "epochs", "time"]
    drop = [] if model == "network" else [6, 7]
    keep = [i for i in range(len(header)) if i not in drop]
    return table([header[i] for i in keep], [[line[i] for i in keep] for line in body], 2)


def hurts(points: dict, settings: list[str]) -> list[str]:
    """Where a transfer is worse than training from scratch with the same data."""
    return [f"`{model}` to {setting} with {100 * fraction:.0f} %"
            for model in transfer.MODELS for setting in settings for fraction in transfer.FRACTIONS
            if transfer.mean(points[model, "transfer", setting, fraction].error)
            > transfer.mean(points[model, "scratch", setting, fraction].error)]  # fmt: skip


def summary_of_transfer(points: dict, settings: list[str]) -> list[str]:
    times = transfer.time_ratios(points, settings)
    lines = [f"- Time of the graph network with all data, from scratch over transferred: median"
             f" {statistics.median(times.values()):.1f} (aim 2, published 7.3); least {min(times.values()):.1f} in"
             f" {min(times, key=times.get)}."]  # fmt: skip
    for model in transfer.MODELS:
        needed = {name: transfer.share_needed(points, model, name) for name in settings}
        less = {name: 1 / share if share else 0.0 for name, share in needed.items()}
        never = [name for name, share in needed.items() if share is None]
        lines.append(f"- Data that a transferred `{model}` needs to be as good as from scratch with all: median"
                     f" {statistics.median(less.values()):.1f} times less (aim 2.5 for the default, published 2.5)"
                     + (f"; never as good in {', '.join(never)}." if never else
                        f"; least {min(less.values()):.1f} in {min(less, key=less.get)}."))  # fmt: skip
        whole = {name: transfer.mean(points[model, "transfer", name, 1.0].error) for name in settings}
        worst = max(whole, key=whole.get)
        lines.append(f"- Worst setting of `{model}` with all data: {worst}, {percent(whole[worst])}.")
    bad = hurts(points, settings)
    return [*lines, f"- Worse than from scratch: {'; '.join(bad) or 'nowhere'}."]


def partition_table(found: dict, settings: list[str]) -> list[str]:
    body = []
    for partition, of_one in found.items():
        values = [transfer.mean(of_one[name].nrmse) for name in settings]
        errors = [transfer.mean(of_one[name].error) for name in settings]
        seconds = [transfer.mean(of_one[name].told("processor_s")) for name in settings]
        body.append([f"`{partition}`", *map(number, values), number(statistics.median(values)),
                     percent(statistics.median(errors)), f"{statistics.median(seconds):.1f} s"])  # fmt: skip
    return table(["partition", *settings, "median", "error", "time"], body, 1)


def transfer_section(runs: Runs) -> tuple[list[str], dict[str, str]]:
    settings, few = transfer.targets(runs.data)
    lines = ["## Transfer", ""]
    if not settings:
        return [*lines, f"No other setting has {transfer.LEAST} architectures in both splits."], {}
    points = transfer.curve(runs, settings)
    before = transfer.as_it_was(runs, settings)
    panels = {}
    for model in transfer.MODELS:
        panels["graph network" if model == "network" else "default model"] = {
            (side, setting): [(points[model, side, setting, f].architectures,
                               transfer.mean(points[model, side, setting, f].error)) for f in transfer.FRACTIONS]
            for side in transfer.SIDES for setting in settings}  # fmt: skip
    lines += [
        f"To each of the other settings, from {100 * transfer.FRACTIONS[0]:.0f} % of its training data"
        f" (at least {transfer.LEAST} architectures) to all. The graph network (`--method network`) starts from one"
        " trained in the base setting and trains the paper's partition; the default model starts from one fitted in"
        " all settings but the target. Both sides see the same drawn architectures and stop by the same rule"
        f" (networks: {' '.join(transfer.STOP)}). Scores are of workers on the setting's test split, means over"
        f" {len(transfer.SEEDS)} draws; errors are means over the four resources. Outside of what a model"
        " learned from the operator engine answers and is scored: \"in domain\" is the share of the model's own"
        " numbers. A transferred model keeps the domain of its base.", "",
        *summary_of_transfer(points, settings), "",
        "![errors over the data of the new setting](inspector_transfer.svg)", "",
        "### Graph network", "", *curve_table(points, before, settings, "network"), "",
        "### Default model", "", *curve_table(points, before, settings, "default"), "",
        "### What a transfer trains", "", "NRMSE of each setting with all of its data.", "",
        *partition_table(transfer.partitions(runs, settings), settings), "",
    ]  # fmt: skip
    if few:
        lines += [f"Too few architectures to transfer to: {', '.join(few)}.", ""]
    return lines, {"inspector_transfer.svg": inspector_plots.curves(panels)}

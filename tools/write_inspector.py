# SPDX-License-Identifier: Apache-2.0
"""Writes docs/inspector.md: predicted bursts and idles against what the lab measured.

    python3 tools/write_inspector.py PROGRAM DATA DOCS --settings DATA --others DATA --keep FOLDER

`PROGRAM fit inspector` by each method on the train splits of all machines, then `PROGRAM evaluate --resources` on the
architectures of DATA's test split; other settings, transfer and what-if questions by the runs of --settings, a machine
where these were measured (it may be the same); the paper's ablations. Trainings are kept in FOLDER:
one that is done is not repeated, one that was interrupted goes on. The page and its pictures go into DOCS.
"""
import argparse
import collections
import csv
import pathlib
import statistics

import accuracy_plot
import inspector_ablations as ablations
import inspector_transfer as transfer
import inspector_what_if as what_if
from inspector_runs import BASE, Runs, facts
from inspector_scores import RESOURCES, error_of, floor_errors, log_rmse, mean_error, nrmse_of_each, of_setting, twelve
from inspector_sections import (FEW, best_without_physics, intervals_table, methods_table, number, numbers_table,
                                of_resource, other_numbers_table, per_step_names, percent, ratio_table)  # fmt: skip
from inspector_transfer_section import transfer_section
from lab_plots import title_of
from wrap_docs import wrap
from write_accuracy import table

DRIPLE_EPOCHS = 100  # at most: four minutes of a core; its own patience is 1,000
METHODS = {
    "hybrid": ("the default: physics, corrected by trees where that helps", ["--method", "hybrid"]),
    "physics": ("the replayed timeline with an offset per number", ["--method", "physics"]),
    "network": ("a graph network that corrects physics, on runs of this machine alone", ["--method", "network"]),
    "trees": ("boosted trees on features of graph and setting, without physics", ["--method", "trees"]),
    "driple": ("the paper's network as published (M = 100), without physics, on runs of this machine in the base setting, until its "
               f"patience or {DRIPLE_EPOCHS} epochs",
               ["--preset", "driple", "--setting", BASE, "--epochs", f"{DRIPLE_EPOCHS}"]),
}  # fmt: skip
WITHOUT_PHYSICS = ["trees", "driple"]
NETWORKS = ("network", "driple")
DURATIONS = {"burst_s": "burst", "idle_s": "idle"}
LEFT_OUT = ["## Graph networks, transfer and ablations", "",
            "Not trained for this page, which was written with `--without-networks`; `make inspector-report` trains them.",
            ""]  # fmt: skip


def data_table(data: pathlib.Path) -> tuple[list[str], list[str]]:
    """What was measured, by setting; settings whose test split is small."""
    counts = transfer.architectures(data)
    runs = collections.Counter()
    configurations = collections.defaultdict(set)
    with (data / "runs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok" and not row["wall_s"]:
                runs[row["setting"], row["split"]] += 1
                configurations[row["setting"], row["split"]].add(row["configuration"])
    body = []
    for setting, splits in counts.items():
        cells = [setting]
        for split in ("train", "test"):
            jobs = len(configurations[setting, split])
            cells += [f"{splits.get(split, 0)}", f"{jobs}", f"{runs[setting, split] / jobs:.1f}" if jobs else "-"]
        body.append(cells)
    header = ["setting", "train: architectures", "jobs", "runs per job", "test: architectures", "jobs", "runs per job"]
    return table(header, body, 1), [name for name, splits in counts.items() if splits.get("test", 0) < FEW]


def has_whole_jobs(data: pathlib.Path) -> bool:
    with (data / "runs.csv").open(encoding="utf-8", newline="") as file:
        return any(row["wall_s"] for row in csv.DictReader(file))


def machine_of(data: pathlib.Path) -> str:
    with (data / "machines.csv").open(encoding="utf-8", newline="") as file:
        return ", ".join(sorted({f"{row['cpu'].strip()} ({row['cores']} cores)" for row in csv.DictReader(file)}))


def settings_table(rows: list[dict], settings: list[str], role: str) -> list[str]:
    body = []
    for setting in settings:
        some = of_setting(rows, setting, twelve(role))
        for name, title in RESOURCES.items():
            one = of_resource(some, name)
            if not one:
                continue
            floor = floor_errors(one)
            each = [percent(mean_error([row for row in one if row["number"].endswith(f".{which}")]))
                    for which in ("burst_amount", "burst_s", "idle_s")]  # fmt: skip
            inside = [float(row["low"]) <= float(row["measured"]) <= float(row["high"]) for row in one if row["low"]]
            body.append([setting, title, f"{sum(row['number'].endswith('burst_amount') for row in one)}",
                         percent(mean_error(one)), percent(statistics.median(map(error_of, one))),
                         percent(statistics.fmean(floor) if floor else None), *each,
                         number(statistics.fmean(nrmse_of_each(one).values())), number(log_rmse(one)),
                         percent(statistics.fmean(inside)) if inside else "-",
                         f"{sum(not row['predicted'] for row in one)}"])  # fmt: skip
    header = ["setting", "resource", "jobs", "mean", "median", "floor", "amount", "burst", "idle", "NRMSE", "log RMSE",
              "in interval", "missing"]  # fmt: skip
    return table(header, body, 2)


def what_if_section(machines: list[list[dict]], whole: list[dict]) -> list[str]:
    """`machines`: rows of each, whose jobs are compared with each other alone; `whole`: steps and lengths of whole jobs
    of one machine, which vary in their workers."""
    changes = what_if.changes_of(whole, what_if.noise_of(sum(machines, []) + whole))
    for rows in machines:
        changes += what_if.changes_of(rows, what_if.noise_of(rows))
    header, body = what_if.table_rows(changes)
    right, seen = what_if.right_share(changes)
    lines = ["## What if", "",
             "All pairs of jobs of one architecture of the test split, measured on one machine, that differ in one"
             " thing: has the"
             " predicted change of each number (the twelve of workers and of servers, step, memory used; of whole jobs step and length) the sign of"
             " the measured one? A number's noise is the mean |log(run / median of the job's other runs)|, times"
             " √((1/n + 1/m)/2) for medians of n and m runs; counted are changes beyond"
             f" {what_if.BEYOND} times the noise. A number that is not predicted has no right sign. Cells are right"
             " signs of all.", ""]  # fmt: skip
    if not seen:
        return [*lines, "No pair of the test split differs in one thing alone, or no job was run twice."]
    goal = "reached" if right >= what_if.TARGET * seen else "missed"
    lines += [*table(header, body, 1), "",
              f"Right are {100 * right / seen:.1f} % of {seen}; the aim of {100 * what_if.TARGET:.0f} % is {goal}."
              f" Of all changes beyond the noise itself: {what_if.share_text(*what_if.right_share(changes, 1))}."]  # fmt: skip
    if absent := what_if.kinds_without_pairs(changes):
        lines.append(f"No pair differs only in: {', '.join(absent)}.")
    if weak := what_if.weak_cells(changes):
        lines += ["", f"Cells of at least {what_if.LEAST} changes below the aim:", "",
                  *table(["change of", "number", "right", "of"],
                         [[what_if.KINDS.get(kind, kind), f"`{name}`", f"{good}", f"{all_}"]
                          for kind, name, good, all_ in weak], 2)]  # fmt: skip
    return [*lines, ""]


def ablation_section(runs: Runs) -> list[str]:
    lines = ["## Designs of the graph network", "",
             f"Each design is trained on workers of {BASE} with the same budget: at most {ablations.EPOCHS} epochs, until"
             f" {ablations.PATIENCE} bring no lower validation loss; M = {ablations.GROUPS} in place of the paper's 100."
             " NRMSE is the mean over the twelve numbers on the test split, and over the seeds"
             f" {', '.join(map(str, ablations.SEEDS))} (lowest and highest in brackets; graphs that are not grouped:"
             " one seed); the mean error is over the four resources."]  # fmt: skip
    for family in ablations.FAMILIES:
        results = ablations.train(runs, family, BASE, ablations.OURS_COMPARED)
        header, body = ablations.table_rows(results)
        lines += ["", f"### {family[0].upper()}{family[1:]}", "", *table(header, body, 2), "",
                  f"{ablations.trained_s(results) / 60:.0f} minutes of processor time in all."]  # fmt: skip
    return [*lines, ""]


def pictures(rows: list[dict]) -> dict[str, str]:
    """Durations of the base setting's workers, a picture per kind."""
    series = {which: collections.defaultdict(list) for which in DURATIONS}
    for row in of_setting(rows, BASE):
        _, resource, which = row["number"].split(".")
        if which in DURATIONS and row["predicted"]:
            series[which][title_of(resource)].append((float(row["measured"]), float(row["predicted"])))
    return {f"inspector_{DURATIONS[which]}.svg": accuracy_plot.scatter(dict(of_one), DURATIONS[which])
            for which, of_one in series.items()}  # fmt: skip


def machines_section(folders: list[pathlib.Path], defaults: list[list[dict]]) -> list[str]:
    """The default on each machine's own test split, fitted for it on the train splits of all."""
    named = {f"{machine_of(data)}, `{data.name}`": rows for data, rows in zip(folders, defaults)}
    return ["## The default on every machine", "",
            f"Workers in {BASE}. Every machine's runs train; an inspector is for one of them, whose calibration it has.",
            "", *methods_table(named, BASE, quoted=False, floors=True), ""]  # fmt: skip


def introduction(folders: list[pathlib.Path]) -> list[str]:
    tables, few = [], []
    for data in folders:
        measured, small = data_table(data)
        tables += [f"`{data}`: {machine_of(data)}", "", *measured, ""]
        few += [f"{name} (`{data.name}`)" for name in small]
    lines = [
        "# Use of resources: predictions against the lab",
        "",
        "Written by `make inspector-report`; do not edit. [The model](models/inspector.md) says how an inspector is"
        " fitted, [evaluation](evaluate.md) what the columns mean. Every inspector learned from runs of the train"
        " split; scored are architectures of the test split, which was fixed before anything was measured."
        " An error is the mean over burst amount, burst duration and idle duration of |predicted / measured − 1|; the"
        " measured number is the median of the repeats. The floor is one run against the median of its other repeats;"
        " it is missing while configurations have one run. A machine's speed drifts with its neighbours: a fixed piece"
        " of work before and after each run tells it, and measured numbers are brought to the machine's usual speed.",
        "",
        *tables,
    ]
    if few:
        lines += [f"Below {FEW} architectures of the test split, so that their figures say little: {', '.join(few)}."]
        lines.append("")
    return [
        *lines,
        "Chosen before any figure of this page was seen: what counts as a change beyond the noise, seeds, stopping"
        " rules and epochs of every training. The calibration of a machine is by what its core copies and 30 runs of"
        " the base setting's train split. What the replay assumes and how large the trees are"
        " was chosen by folds of the first campaign's train split (an AMD EPYC), some of it after errors on that"
        " campaign's test split had been seen; so was the rule that a transferred model keeps the domain of its base."
        " That `fourth_machine` trains too, and that predictions stay those of the machine with three repeats, was settled after errors on both"
        " test splits had been seen."
        " [The model's page](models/inspector.md) names each such choice.",
        "",
    ]


def methods_section(rows_of: dict[str, list[dict]], told: dict[str, dict]) -> list[str]:
    without = [method for method in WITHOUT_PHYSICS if method in rows_of]
    best = best_without_physics(rows_of, BASE, without)
    names = [f"- `{method}`: {about}" + (f" ({told[method]['epochs']} epochs, the best was"
             f" {told[method]['best_epoch']}; {told[method]['parameters']:,} parameters,"
             f" {told[method]['processor_s'] / 60:.1f} minutes of processor time)" if method in told else "")
             for method, (about, _) in METHODS.items()]  # fmt: skip
    return [
        f"## Methods: workers in the base setting, {BASE}", "",
        "Mean errors, medians in brackets; log RMSE, the root mean square of log(predicted / measured), is the mean over"
        " the four resources, NRMSE over the twelve numbers.", "",
        *methods_table(rows_of, BASE), "", *names, "",
        f"Of the models without physics `{best}` is best. Trees with and without physics have the same number, depth"
        " and rate; none was tuned for either. Ratios of means over the four resources, with 90 % intervals by"
        " bootstrap over architectures (aim: at most 0.65 for both):", "",
        *ratio_table(rows_of, BASE, "hybrid", without), "",
        "The default with 90 % intervals over architectures (aims: 9 (6) % device, 11 (7) % memory, 11 (6) % network):",
        "", *intervals_table(rows_of["hybrid"], BASE), "",
        "NRMSE of each number:", "", *numbers_table(rows_of, BASE), "",
        "![burst durations, predicted against measured](inspector_burst.svg)", "",
        "![idle durations, predicted against measured](inspector_idle.svg)", "",
    ]  # fmt: skip


def settings_section(rows: list[dict]) -> list[str]:
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    lines = ["## The default in every setting", "",
             "Missing are numbers of resources that were measured to alternate and predicted not to; they count as"
             " 100 %.", ""]  # fmt: skip
    for role in ("worker", "server"):
        if any(row["number"].startswith(f"{role}.net") for row in rows):
            lines += [f"### Of a {role}", "", *settings_table(rows, settings, role), ""]
    names = {"step_time_s": "step", "worker.memory_used": "memory used", "server.memory_used": "memory used, server"}
    return [*lines, "### Step and memory used", "", *other_numbers_table(rows, settings, names), "",
            "### Burst time per step", "",
            "Share of the time in bursts times the step: it does not flicker where two bursts merge into one or not.", "",
            *other_numbers_table(rows, settings, {**per_step_names("worker"), **{
                name: f"{title}, server" for name, title in per_step_names("server").items()}}), ""]  # fmt: skip


def be_quick() -> None:
    METHODS["network"][1].extend(["--epochs", "2"])
    METHODS["driple"][1][-1] = "2"
    ablations.EPOCHS, ablations.SEEDS = 2, (1,)
    transfer.STOP[1], transfer.SEEDS = "2", (1,)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("docs", type=pathlib.Path)
    parser.add_argument("--settings", type=pathlib.Path, required=True)
    parser.add_argument("--others", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--keep", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="two epochs and one seed, to try this program")
    parser.add_argument("--without-networks", action="store_true",
                        help="a few minutes instead of an hour: no graph networks, transfer and ablations")  # fmt: skip
    options = parser.parse_args()
    if options.quick:
        be_quick()
    if options.without_networks:
        for method in NETWORKS:
            del METHODS[method]
    folders = list(dict.fromkeys([options.data, options.settings, *options.others]))
    machines = [Runs(options.program, data, options.keep, others=[other for other in folders if other != data])
                for data in folders]  # fmt: skip
    place = folders.index(options.settings)
    runs, of_settings = machines[0], machines[place]
    fits = {method: runs.fit(*how, network=True) if method in NETWORKS else runs.fit_pooled(*how)
            for method, (_, how) in METHODS.items()}  # fmt: skip
    rows_of = {method: runs.rows(folder) for method, folder in fits.items()}
    defaults = [rows_of["hybrid"], *(one.rows(one.fit_pooled(*METHODS["hybrid"][1])) for one in machines[1:])]
    of_jobs = next((one for one in machines if has_whole_jobs(one.data)), of_settings)
    whole = of_jobs.whole_jobs(of_jobs.fit_pooled(*METHODS["hybrid"][1]))
    every = rows_of["hybrid"] + ([row for row in defaults[place] if row["setting"] != BASE] if place else [])
    if options.without_networks:
        moved, more, designs = LEFT_OUT, {}, []
    else:
        moved, more = transfer_section(of_settings)
        designs = ablation_section(runs)
    told = {method: facts(fits[method]) for method in NETWORKS if method in fits}
    lines = [*introduction(folders), *methods_section(rows_of, told),
             *machines_section(folders, defaults), *settings_section(every),
             *what_if_section(defaults[: place + 1], whole), *moved, *designs]  # fmt: skip
    for name, svg in {**pictures(rows_of["hybrid"]), **more}.items():
        (options.docs / name).write_text(svg, encoding="utf-8")
    (options.docs / "inspector.md").write_text(wrap("\n".join(lines).rstrip() + "\n"), encoding="utf-8")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The part of docs/embedding.md on times, from tools/embedding_times.py's numbers."""
import math
import re

from lab_plots import COLOURS, Picture

WAYS = {
    "plain": "embedding and counts, plain",
    "residual": "embedding and counts, residual of the operator engine",
    "embedding alone": "embedding alone, without counts and law",
    "plain without the embedding": "counts alone, plain",
    "residual without the embedding": "counts alone, residual",
    "trees on FLOPs, activations, parameters": "boosted trees on FLOPs, activations, parameters",
    "FLOPs alone": "regression on FLOPs alone",
    "operators": "operator engine alone",
    "operators, one factor": "operator engine times one factor",
}
ENCODERS = {"not-trained": "not trained", "self-supervised-alone": "self-supervised alone"}
CURVES = {"plain": "plain", "residual": "residual", "trees": "boosted trees on three counts"}
WIDTH, HEIGHT, LEFT, BOTTOM = 520, 260, 50, 36


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def error_of(tests: dict, way: str) -> float:
    return next((one["mean"] for one in tests["ways"] if one["way"] == way), math.nan)


def ways_table(tests: dict) -> str:
    metrics = list(tests["ways"][0]["metrics"])
    several = metrics if 1 < len(metrics) <= 3 else []
    rows = []
    for way, meaning in WAYS.items():
        for one in tests["ways"]:
            if one["way"] == way:
                rows.append([meaning, percent(one["mean"]), *(percent(one["metrics"][m]) for m in several), percent(one["median"]),
                             percent(one["inside"])])  # fmt: skip
    return table(["what predicts", "mean error", *several, "median", "in the 90 % interval"], rows)


def methods_table(tests: dict) -> str:
    rows = []
    for one in tests["ways"]:
        target, found, method = one["way"].partition(": ")
        if not found or target != "plain":
            continue
        rows.append([method, percent(one["mean"]), percent(error_of(tests, f"residual: {method}"))])
    return table(["method", "plain", "residual"], rows)


def chosen(tests: dict) -> str:
    return ", ".join(f"{name} in {folds}" for name, folds in tests["chosen"].items())


def timm_section(tests: dict) -> str:
    ratio = error_of(tests, "plain") / error_of(tests, "trees on FLOPs, activations, parameters")
    note = re.sub(r"'[^']*/(timm/[^']*)'", r"'\1'", tests["notes"][0].strip()) if tests["notes"] else ""
    skipped = f" {note}." if note else ""
    return f"""### A GPU: timm's networks on an RTX 3090

{tests['rows']:,} measured steps of {tests['networks']} networks of {tests['families']} families (timm's modules), {tests['folds']} folds by
family: every row is predicted by what other families taught, method and settings chosen by families of those alone.{skipped}
Errors are means of |predicted / measured - 1|. The operator engine's constants were not fitted anew in each fold: where these rows
took part in their choice, its row and the residual's are in sample; [accuracy.md](accuracy.md) says which did. The terms of the plain
target's law, that it may be one for each memory format, and the regressors' settings were chosen with errors of these folds in view.

{ways_table(tests)}

The plain error is {ratio:.2f} of that of boosted trees on FLOPs, activations and parameters, and
{error_of(tests, "plain") / error_of(tests, "plain without the embedding"):.2f} of that without the embedding; as residual the embedding
changes the operator engine's error by {100 * (error_of(tests, "residual") - error_of(tests, "operators")):+.1f} points. Chosen were, of {tests['folds']} folds:
{chosen(tests)}. Every method by itself:

{methods_table(tests)}

{curve_section(tests)}"""


def curve_section(tests: dict) -> str:
    if not tests["curve"]:
        return ""
    rows = [[str(one["networks"]), *(percent(one[key]) for key in CURVES)] for one in tests["curve"]]
    return f"""How many networks must be measured? The same folds, learned from so many networks that are drawn from the other families:

{table(["networks", *CURVES.values()], rows)}

![error over the number of measured networks](embedding_curve.svg)"""


def torchvision_section(tests: dict) -> str:
    return f"""### Several GPUs: a third of the architectures held out

torchvision_gpus.csv: {tests['rows']:,} steps of {tests['networks']} torchvision networks on four kinds of GPU, 1 to 4 of them, in three
precisions; three folds by architecture, so that a third is held out in each. The operator engine's convolutions, norms and host times
were partly fitted to these rows ([leave_out.md](leave_out.md)), so that its rows and the residual's are better here than on GPUs that
nobody measured.

{ways_table(tests)}"""


def ernest_rows(tests: dict) -> list[list[str]]:
    rows = []
    for one in tests["ernest"]:
        name = "without refitting" if one["runs"] == 0 else f"refitted with {one['runs']} runs"
        if one["rows"] == 0:
            rows.append([f"Ernest {name}", "0", "no workload has more runs", "", "", "", ""])
            continue
        best = min(one["plain"], one["residual"])
        rows.append([f"Ernest {name}", f"{one['rows']:,} of {one['workloads']}", percent(one["ernest"]), percent(one["plain"]),
                     percent(one["residual"]), f"{one['ernest'] / best:.1f}", f"{one['sample_s']:.0f} s"])  # fmt: skip
    return rows


def jobs_section(tests: dict, speed: dict | None) -> str:
    head = ["", "runs of workloads", "Ernest", "plain", "residual", "factor", "its sample runs take"]
    took = [one for one in tests["ernest"] if one["sample_s"] > 0]
    inference = ""
    if speed and took:
        cold = max(speed["cold_s"].values())
        inference = (f" A prediction of a new network takes {1e3 * cold:.0f} ms from start to end, embedding included; Ernest's own runs take "
                     f"{took[0]['sample_s']:.0f} s first ({took[0]['sample_s'] / cold:,.0f} times as long), and without them, its law being a "
                     "product of four numbers, nothing to speak of.")  # fmt: skip
    return f"""### Whole jobs in the lab, against Ernest

{tests['rows']:,} whole jobs of {tests['networks']} architectures, {tests['folds']} folds by architecture: the time from start to end. Ernest
is refitted with the first 3 or 7 of each new workload's runs (in an order that a seed draws) and judged on its others; the embedding is
judged on the same ones and saw no run of that architecture. The operator engine knows nothing of this machine: no calibration. The jobs were made beside other programs
([collect.md](collect.md)). Without refitting, one law of Ernest is fitted to the architectures that are
learned from. The factor is Ernest's error over the better one of the two targets.{inference}

{table(head, ernest_rows(tests))}

{ways_table(tests)}"""


def worth_of_training(shipped: dict, encoders: dict) -> str:
    """What the table of encoders says, in a sentence for each use."""
    sentences = []
    for way, where in (("embedding alone", "Alone"), ("plain", "Beside counts")):
        ours = error_of(shipped, way)
        others = {ENCODERS[name]: error_of(tests, way) for name, tests in encoders.items()}
        if way == "plain":
            others["no embedding"] = error_of(shipped, "plain without the embedding")
        worse = [name for name, error in others.items() if error > ours + 0.005]
        not_worse = [name for name in others if name not in worse]
        told = [f"errs less than {' and '.join(worse)}"] if worse else []
        told += [f"no less than {' and '.join(not_worse)}"] if not_worse else []
        sentences.append(f"{where} the hypernetwork's embedding {', '.join(told) if worse else 'errs ' + told[0]}.")
    return " ".join(sentences)


def encoders_section(shipped: dict, encoders: dict) -> str:
    rows = [["hypernetwork (shipped)", *(percent(error_of(shipped, way)) for way in ("embedding alone", "plain", "residual"))]]
    for name, tests in encoders.items():
        rows.append([ENCODERS[name], *(percent(error_of(tests, way)) for way in ("embedding alone", "plain", "residual"))])
    rows.append(["none: counts alone", "", *(percent(error_of(shipped, f"{way} without the embedding")) for way in ("plain", "residual"))])
    return f"""### What the hypernetwork's training is worth here

The same folds of torchvision's networks with encoders of the same shape:

{table(["encoder", "embedding alone", "plain", "residual"], rows)}

{worth_of_training(shipped, encoders)}"""


def speed_section(speed: dict) -> str:
    cold = ", ".join(f"{name} {1e3 * seconds:.0f} ms" for name, seconds in speed["cold_s"].items())
    return f"""### Speed of predictions

CPU time of `predict --engine embedding` from start to end, the operator engine's share included: {cold}. Many requests in one call:
{speed['new_per_s']:,.0f} per second and core where every network is new, {speed['known_per_s']:,.0f} for a few networks at many batches
(`python3 bench/embedding_bench.py PROGRAM`)."""


def times_sections(found: dict) -> str:
    parts = ["## Times of networks never run"]
    if "timm" in found:
        parts.append(timm_section(found["timm"]))
    else:
        parts.append("Errors on timm's networks were not measured: their graphs were not at hand.")
    if "torchvision" in found:
        parts.append(torchvision_section(found["torchvision"]))
        if found.get("encoders"):
            parts.append(encoders_section(found["torchvision"], found["encoders"]))
    if "jobs" in found:
        parts.append(jobs_section(found["jobs"], found.get("speed")))
    if "speed" in found:
        parts.append(speed_section(found["speed"]))
    return "\n\n".join(parts)


def draw_curve(points: list[dict]) -> str:
    """Mean error over networks, both by logarithm."""
    picture = Picture()
    errors = [one[key] for one in points for key in CURVES if one[key] > 0]
    low, high = math.log(min(errors) / 1.2), math.log(max(errors) * 1.2)
    first, last = math.log(points[0]["networks"]), math.log(points[-1]["networks"])

    def place(networks: float, error: float) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - 150) * (math.log(networks) - first) / max(last - first, 1e-9)
        return x, (HEIGHT - BOTTOM) * (1 - (math.log(error) - low) / (high - low)) + 8

    for error in (0.05, 0.1, 0.2, 0.5, 1, 2):
        if low < math.log(error) < high:
            _, y = place(points[0]["networks"], error)
            picture.bar(LEFT, y, WIDTH - LEFT - 150, 0.5, "#dddddd")
            picture.text(LEFT - 6, y + 4, percent(error), "end")
    for one in points:
        x, _ = place(one["networks"], errors[0])
        picture.text(x, HEIGHT - 12, str(one["networks"]), "middle")
    picture.text(LEFT + (WIDTH - LEFT - 150) / 2, HEIGHT, "measured networks", "middle")
    for colour, (key, name) in zip(COLOURS, CURVES.items()):
        places = [place(one["networks"], one[key]) for one in points if one[key] > 0]
        if not places:
            continue
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        picture.parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        picture.text(places[-1][0] + 8, places[-1][1] + 4, name)
    return picture.svg(WIDTH, HEIGHT + 8)

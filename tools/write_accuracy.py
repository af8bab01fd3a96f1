# SPDX-License-Identifier: Apache-2.0
"""Writes docs/accuracy.md and its plots: what became of every row of measurement, and the errors.

    python3 tools/write_accuracy.py PROGRAM DATA OUT [--models FOLDER]

runs `PROGRAM evaluate` and `PROGRAM fit intervals` on DATA/training and `PROGRAM evaluate` on
DATA/operators; where the numbers come from and what they were used for is read from the mappings,
data/evaluate/*.json. Prints the errors by source and GPU.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile

import accuracy_plot
from wrap_docs import wrap

MAPPINGS = pathlib.Path(__file__).resolve().parent.parent / "data/evaluate"
REASONS_SHOWN = 6  # of a file
FEWEST_PLOTTED = 20
CONFIDENCE = 0.9
RATES = re.compile(r"it/s|throughput")  # numbers that are no times

# The best figures that others published for the same data, mean absolute percentage errors.
GITHUB = "https://github.com/"
PUBLISHED = {
    ("neusight", "inference e2e"): "9.7 % (NeuSight)",
    ("neusight", "training e2e"): "8.5 % (NeuSight)",
    ("neusight", "training, backward"): "15.0 % (NeuSight)",
}
# GPUs of which nothing was fitted, though their source was: those that NeuSight keeps as tests.
UNSEEN = {"neusight": {"l4", "a100-pcie-80gb"}}


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def percent(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.1f} %"


def plain(text: str) -> str:
    """Text that a Markdown table shows as it is."""
    return re.sub(r"\s+", " ", text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def table(header: list[str], rows: list[list[str]], left: int) -> list[str]:
    """The first `left` columns hold text, the others numbers."""
    rule = ["---" if i < left else "---:" for i in range(len(header))]
    return ["| " + " | ".join(cells) + " |" for cells in [header, rule, *rows]]


def repositories(file: str) -> str:
    return ", ".join(f"[{url.removeprefix(GITHUB)}]" for url in mapping(file).get("repositories", []))


def link_definitions(files: list[str]) -> list[str]:
    """What the names that `repositories` gives lead to."""
    urls = {url for file in files for url in mapping(file).get("repositories", [])}
    return [f"[{url.removeprefix(GITHUB)}]: {url}" for url in sorted(urls)]


def mapping(file: str) -> dict:
    path = MAPPINGS / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def left_out(file: str, device: str = "") -> str:
    """What of a row no constant was chosen with: its source, its GPU, or nothing."""
    if mapping(file).get("constants", "none") == "none":
        return "source left out"
    return "GPU left out" if device in UNSEEN.get(file, set()) else "partly in sample"


class Group:
    """Rows that share a key: their errors as fractions, refused ones, and which intervals hold."""

    def __init__(self):
        self.errors: list[float] = []
        self.refused = 0
        self.inside: list[bool] = []

    def cells(self) -> list[str]:
        cases = len(self.errors)
        if cases == 0:
            return ["0", f"{self.refused:,}", "", "", "", "100.0 %", ""]
        sizes = [abs(error) for error in self.errors]
        return [f"{cases:,}", f"{self.refused:,}" if self.refused else "", percent(100 * statistics.fmean(sizes)),
                percent(100 * statistics.median(sizes)), percent(100 * statistics.fmean(self.errors), "+"),
                percent(100 * (sum(sizes) + self.refused) / (cases + self.refused)) if self.refused else "",
                share(sum(self.inside), len(self.inside))]


GROUP_HEADER = ["cases", "refused", "MAPE", "median", "bias", "with refused", "inside"]


def grouped(rows: list[dict], inside: dict[tuple[str, str], bool], keys: list[str]) -> dict[tuple, Group]:
    groups: dict[tuple, Group] = {}
    for row in rows:
        if not row["measured"]:
            continue  # unmapped
        group = groups.setdefault(tuple(row[key] for key in keys), Group())
        if row["predicted"]:
            group.errors.append(float(row["error"]))
            place = (row["file"], row["line"])
            if place in inside:
                group.inside.append(inside[place])
        else:
            group.refused += 1
    return dict(sorted(groups.items()))


def ways(sources: list[dict]) -> list[str]:
    """Each source's steps, or numbers that are none, by plain, informed and calibrated requests."""
    def error(score: dict | None) -> str:
        return "" if score is None else percent(score["mape_percent"])

    lines, knobs = [], {}
    for one in sources:
        score = one["plain"]
        if score is None:
            continue
        calibrated = one["calibrated"]
        knobs[one["file"]] = [one["file"], *(f"{one[key]:,}" for key in ("facts", "recovered", "left_out", "fitted"))]
        lines.append([one["file"], plain(one["number"]), f"{score['cases']:,}", f"{score['refused']:,}",
                      error(score), percent(score["median_ape_percent"]), percent(score["bias_percent"], "+"),
                      error(one["informed"]), error(calibrated), f"{calibrated['cases']:,}" if calibrated else ""])
    errors = ["file", "number", "rows", "refused", "plain", "median", "bias", "informed", "calibrated", "its rows"]
    counts = ["file", "facts", "recovered", "left out", "fitted"]
    return [*table(errors, lines, 2), "", *table(counts, list(knobs.values()), 1)]


def by_source(rows: list[dict], inside: dict) -> list[str]:
    lines = [[file, plain(metric), left_out(file), PUBLISHED.get((file, metric), ""), *group.cells()]
             for (file, metric), group in grouped(rows, inside, ["file", "metric"]).items()]
    return table(["file", "number", "how", "best published", *GROUP_HEADER], lines, 4)


def by_gpu(rows: list[dict], inside: dict) -> list[str]:
    times = [row for row in rows if (row["file"], row["line"]) in inside]
    lines = [[file, device, left_out(file, device), *group.cells()]
             for (file, device), group in grouped(times, inside, ["file", "device"]).items()]
    header = ["file", "GPU", "how", *GROUP_HEADER]
    keep = [i for i, name in enumerate(header) if "refused" not in name]  # steps with an interval are predicted
    return table([header[i] for i in keep], [[line[i] for i in keep] for line in lines], 3)


def interval_score(log_ratio: float, low: float, high: float) -> float:
    outside = max(0.0, low - log_ratio) + max(0.0, log_ratio - high)
    return high - low + 2 / (1 - CONFIDENCE) * outside


class Intervals:
    """Sums over rows of one source: the intervals with that source left out, beside one ratio for all."""

    def __init__(self):
        self.covered = self.width = self.score = self.one_covered = self.one_score = 0.0
        self.rows = 0

    def add(self, row: dict) -> None:
        measured, predicted, low, high, ratio = (float(row[key]) for key in ["measured", "predicted", "low", "high", "one_ratio"])
        log_ratio, one = math.log(measured / predicted), math.log(ratio)
        ends = math.log(low / predicted), math.log(high / predicted)
        self.rows += 1
        self.covered += is_inside(row)
        self.width += ends[1] - ends[0]
        self.score += interval_score(log_ratio, *ends)
        self.one_covered += abs(log_ratio) <= one
        self.one_score += interval_score(log_ratio, -one, one)

    def means(self) -> list[float]:
        return [value / self.rows for value in (self.covered, self.width, self.score, self.one_covered, self.one_score)]


def is_inside(row: dict) -> bool:
    return float(row["low"]) <= float(row["measured"]) <= float(row["high"])


def interval_cells(name: str, rows: int, means: list[float]) -> list[str]:
    covered, width, score, one_covered, one_score = means
    return [name, f"{rows:,}", percent(100 * covered), f"{math.exp(width):.2f}", f"{score:.2f}", percent(100 * one_covered),
            f"{one_score:.2f}", percent(100 * (1 - score / one_score), "+")]


def intervals(judged: list[dict]) -> list[str]:
    sources: dict[str, Intervals] = {}
    everything = Intervals()
    for row in judged:
        sources.setdefault(row["file"], Intervals()).add(row)
        everything.add(row)
    lines = [interval_cells(name, one.rows, one.means()) for name, one in sorted(sources.items())]
    alike = [statistics.fmean(column) for column in zip(*(one.means() for one in sources.values()))]
    lines.append(interval_cells("all rows", everything.rows, everything.means()))
    lines.append(interval_cells("sources alike", everything.rows, alike))
    return table(["source, left out", "steps", "inside", "high / low", "score", "inside one ratio", "its score", "gain"], lines, 1)


def coverage(result: dict) -> list[str]:
    rows = []
    for one in [*result["files"], {"file": "all", **result["total"]}]:
        mapped = one["predicted"] + one["refused"]
        rows.append([one["file"], repositories(one["file"]), f"{one['rows']:,}", f"{mapped:,}",
                     share(mapped, one["rows"]), f"{one['predicted']:,}", f"{one['refused']:,}",
                     f"{one['rows'] - mapped:,}"])
    header = ["file", "from", "rows", "mapped", "share", "predicted", "refused", "unmapped"]
    return [*table(header, rows, 2), "", *link_definitions([one["file"] for one in result["files"]])]


def operator_kind(metric: str) -> str:
    """The kind of an operator that is shown, or nothing: rows that others were fitted on are not."""
    name, _, split = metric.partition(", ")
    if name == "conv":
        return "convolution (all rows; the fit saw them)"
    if split != "test":
        return ""
    return {"bmm": "GEMM", "linear": "GEMM", "ln": "layer norm", "softmax": "softmax"}.get(name, "element-wise")


def operators(result: dict) -> list[str]:
    """Means over all operators of a kind, of each GPU."""
    sums: dict[tuple[str, str], list[float]] = {}
    for one in result["groups"]:
        kind = operator_kind(one["metric"])
        if kind and one["predicted"] > 0:
            total = sums.setdefault((kind, one["device"]), [0, 0.0, 0.0])
            for place, value in enumerate((1, one["mape_percent"], one["bias_percent"])):
                total[place] += one["predicted"] * value
    rows = [[kind, device, "GPU left out" if device in UNSEEN["neusight"] and "fit" not in kind else "partly in sample",
             f"{total[0]:,}", percent(total[1] / total[0]), percent(total[2] / total[0], "+")]
            for (kind, device), total in sorted(sums.items())]
    return table(["operator", "GPU", "how", "cases", "MAPE", "bias"], rows, 3)


def constants(result: dict) -> list[str]:
    rows = []
    for one in result["files"]:
        used = mapping(one["file"]).get("constants", "none")
        if used != "none":
            rows.append([one["file"], plain(used)])
    return table(["file", "constants that were chosen with its rows in view"], rows, 2)


def reasons(result: dict) -> list[str]:
    lines = []
    for one in result["files"]:
        of_file = [r for r in result["unmapped"] if r["file"] == one["file"]]
        if not of_file:
            continue
        lines += ["", f"**{one['file']}**", ""]
        lines += [f"- {r['rows']:,} {r['outcome']}: {plain(r['reason'])}" for r in of_file[:REASONS_SHOWN]]
        rest = of_file[REASONS_SHOWN:]
        if rest:
            lines.append(f"- {sum(r['rows'] for r in rest):,} for {len(rest)} other reasons")
    return lines


def plots(judged: list[dict], out: pathlib.Path) -> list[str]:
    """Writes a plot per source and returns the lines that show them."""
    lines = []
    files = sorted({row["file"] for row in judged})
    for file in files:
        series: dict[str, list[tuple[float, float]]] = {}
        of_file = [row for row in judged if row["file"] == file]
        if len(of_file) < FEWEST_PLOTTED:
            continue
        rate = bool(RATES.search(of_file[0]["metric"]))
        for row in of_file:
            pair = float(row["measured"]), float(row["predicted"])
            series.setdefault(row["device"], []).append(tuple(1 / value for value in pair) if rate else pair)
        per_step = not rate or "it/s" in of_file[0]["metric"]
        accuracy_plot.write(out / f"{file}.svg", series, "step" if per_step else "sample or token")
        lines += ["", f"### {file}", "", f"![{file}: predicted against measured]({out.name}/{file}.svg)"]
    return lines


def page(result: dict, rows: list[dict], judged: list[dict], plot_lines: list[str], operator_result: dict | None,
         sources: list[dict]) -> str:
    inside = {(row["file"], row["line"]): is_inside(row) for row in judged}
    lines = [
        "# Accuracy",
        "",
        "Written by `make accuracy DATA=dir`; do not edit. Public measurements of training, row by row, against predictions",
        "from the model's graph and the hardware's data sheet. [evaluate.md](evaluate.md) says how rows become requests.",
        "",
        "## Three ways",
        "",
        "Mean absolute percentage errors of requests that hold what a row or its documentation states (*plain*, what a user has), with what",
        "mappings have fitted to the very rows that they are scored on (*informed*), and plain beside three runs of each model on each device,",
        "drawn by a seed and not scored (*calibrated*; *its rows* are left). A refused row counts as an error of 100 %. *Median* and *bias* are",
        "those of plain requests. *Facts*, *recovered*, *left out* and *fitted* count the values of the mapping; [evaluate.md](evaluate.md#three-ways)",
        "says what they are. `foretrain evaluate --data dir --ways` prints this table.",
        "",
        *ways(sources),
        "",
        "## By source",
        "",
        "Plain requests. MAPE is the mean and median the median of abs(predicted / measured − 1), bias the mean of predicted / measured − 1:",
        "above 0 times are predicted too long and rates too high. *Source left out*: no constant was chosen with rows of that",
        "source in view. *GPU left out*: likewise for rows of that GPU. *Partly in sample*: some constants were; the table below the plots says",
        "which. *With refused*: the MAPE where each refused row counts as an error of 100 %. *Inside*: how many measurements the",
        "90 % interval of their prediction holds, their source left out of everything that makes the interval. NeuSight's own",
        "figures are those of its paper (Lee et al., ASPLOS 2025); where nothing stands under *best published*, we know of none.",
        "",
        *by_source(rows, inside),
        "",
        "## By GPU",
        "",
        "Step times, and rates that are their inverse.",
        "",
        *by_gpu(rows, inside),
        "",
        "## Intervals",
        "",
        "90 % intervals of the step time. Each source is left out of the effects and of the factor by which it is judged.",
        "The score is Winkler's on logarithms, log(high / low) + 20 times what lies outside: less is better. One ratio: the interval from",
        "predicted / r to predicted × r, with r from the same other sources. [Intervals](models/intervals.md) says how both are made.",
        "",
        *intervals(judged),
        "",
        "## Plots",
        "",
        "Predicted against measured, one dot per pixel. The dashed lines are a factor of 1.25 off.",
        *plot_lines,
        "",
        "## What was fitted",
        "",
        *constants(result),
        "",
        *(["## Operators", "", "One operator alone: NeuSight's test rows, fp32. Its train rows were fitted, which L4 and A100-80GB do not have but for", "convolutions.", "",
           *operators(operator_result), ""] if operator_result else []),
        "## Rows",
        "",
        "*Mapped* rows are complete requests; of those, *refused* ones ask for something that this version cannot answer.",
        "*Unmapped* rows do not state enough, are not comparable, or have a model that the zoo cannot name.",
        "",
        *coverage(result),
        "",
        "## Rows without a prediction",
        "",
        "`foretrain evaluate --data dir --unmapped` lists every reason with the first line that it holds for.",
        *reasons(result),
    ]
    return "\n".join(lines) + "\n"


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read_csv(path: pathlib.Path) -> list[dict]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--models", help="the folder of model files that requests name (tools/timm_graphs.py)")
    options = parser.parse_args()
    training, folder = str(options.data / "training"), options.data / "operators"
    with tempfile.TemporaryDirectory() as scratch:
        rows_path, judged_path = pathlib.Path(scratch, "rows.csv"), pathlib.Path(scratch, "judged.csv")
        models = ["--models", options.models] if options.models else []
        result = json.loads(run(options.program, "evaluate", "--data", training, "--json", "--rows", str(rows_path), *models))
        print(run(options.program, "fit", "intervals", "--data", training, "--rows", str(judged_path), *models))
        rows, judged = read_csv(rows_path), read_csv(judged_path)
        sources = json.loads(run(options.program, "evaluate", "--data", training, "--ways", "--json", *models))["sources"]
        power = options.data / "resources/zeus_power_time.csv"
        if power.is_file():
            sources += json.loads(run(options.program, "evaluate", "--data", str(power), "--ways", "--json"))["sources"]
    operator_result = None
    if folder.is_dir():
        operator_result = json.loads(run(options.program, "evaluate", "--data", str(folder), "--by", "file,metric,device", "--json"))
    plot_lines = plots(judged, options.out.with_suffix(""))
    text = page(result, rows, judged, plot_lines, operator_result, sources)
    if options.models:  # a folder of this machine is nobody else's
        text = text.replace(f"'{options.models.rstrip('/')}/", "'GRAPHS/")
    text = wrap(text)
    options.out.write_text(text, encoding="utf-8")
    print(text[text.index("## Three ways"):text.index("## Plots")])


if __name__ == "__main__":
    main()

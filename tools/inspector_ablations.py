# SPDX-License-Identifier: Apache-2.0
"""The paper's comparisons of network designs, each design trained with the same budget.

    python3 tools/inspector_ablations.py PROGRAM DATA KEEP

trains what KEEP does not hold yet, and prints a table. An interrupted call goes on where it was.
"""
import statistics

from inspector_runs import BASE, Runs, Scores, runs_of_arguments

GROUPS = 20  # M; the paper has 100
EPOCHS = 60  # so that all designs together take about ten minutes of a core
PATIENCE = 20
SEEDS = (1,)
# What is compared, and the options that differ from the preset's.
DESIGNS = {
    "grouping": {
        f"uniform, M = {GROUPS}": [],
        "proportional, M = 2 √nodes": ["--grouping", "proportional"],
        "none": ["--grouping", "none"],
    },
    "algorithm": {
        "GCN": [],
        "GIN": ["--convolution", "gin"],
        "GAT": ["--convolution", "gat"],
        "MPNN": ["--convolution", "mpnn"],
    },
    "depth": {
        f"K = {GROUPS // 2} = M / 2": [],
        "K = 1": ["--depth", "1"],
        f"K = {GROUPS // 4}": ["--depth", f"{GROUPS // 4}"],
        f"K = {GROUPS}": ["--depth", f"{GROUPS}"],
    },
    "readout": {
        "Set2Set": [],
        "mean": ["--readout", "mean"],
        "max": ["--readout", "max"],
        "attention": ["--readout", "attention"],
    },
    "recurrent unit": {"GRU": [], "none": ["--no-gru"]},
}
ONE_SEED = {("grouping", "none")}  # its graphs have ten times the nodes
FAMILIES = {
    "the paper's design": ["--preset", "driple", "--groups", f"{GROUPS}"],
    "ours": ["--method", "network", "--groups", f"{GROUPS}"],
}
OURS_COMPARED = ("grouping", "algorithm", "depth", "readout", "recurrent unit")


class Result(Scores):
    """Of one design."""

    def __init__(self, aspect: str, name: str):
        super().__init__()
        self.aspect, self.name = aspect, name


def options_of(family: str, more: list[str], setting: str, seed: int) -> list[str]:
    return [*FAMILIES[family], "--setting", setting, "--epochs", f"{EPOCHS}", "--patience", f"{PATIENCE}",
            "--seed", f"{seed}", *more]  # fmt: skip


def train(runs: Runs, family: str, setting: str, aspects: tuple[str, ...]) -> list[Result]:
    """Every design; one that several comparisons hold is trained once, because its options are the same."""
    results = []
    for aspect in aspects:
        for name, more in DESIGNS[aspect].items():
            result = Result(aspect, name)
            for seed in SEEDS[:1] if (aspect, name) in ONE_SEED else SEEDS:
                result.add(runs, runs.fit(*options_of(family, more, setting, seed), network=True), setting)
            results.append(result)
    return results


def spread(values: list[float], form: str) -> str:
    """The mean over the seeds, with the lowest and the highest."""
    mean = format(statistics.fmean(values), form)
    return mean if len(values) < 2 else f"{mean} ({format(min(values), form)} to {format(max(values), form)})"


def table_rows(results: list[Result]) -> tuple[list[str], list[list[str]]]:
    body = []
    for result in results:
        epochs = "/".join(map(str, result.told("best_epoch")))
        seconds = statistics.fmean(result.told("processor_s"))
        body.append([result.aspect, result.name, f"{result.facts[0]['parameters']:,}", spread(result.nrmse, ".3f"),
                     f"{100 * statistics.fmean(result.error):.1f} %", epochs, f"{seconds:.0f} s"])  # fmt: skip
    return ["of", "design", "parameters", "NRMSE (seeds)", "mean error", "best epoch", "processor time"], body


def trained_s(results: list[Result]) -> float:
    """Processor time of all trainings, each counted once."""
    return sum({str(one["options"]): one["processor_s"] for result in results for one in result.facts}.values())


def main() -> None:
    runs = runs_of_arguments(__doc__)
    for family in FAMILIES:
        results = train(runs, family, BASE, OURS_COMPARED)
        header, body = table_rows(results)
        print(f"{family}; {trained_s(results) / 60:.1f} minutes of processor time")
        for line in [header, *body]:
            print("  ".join(cell.ljust(26) for cell in line).rstrip())


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Sections of docs/inspector.md that compare methods: errors with intervals, each number, burst time per step."""
import statistics

from inspector_scores import (NUMBERS, RESOURCES, error_of, floor_errors, interval, log_rmse, mean_error, mean_nrmse,
                              mean_of_resources, nrmse_of_each, of_setting, ratio_interval, resource_of,
                              twelve)  # fmt: skip
from write_accuracy import table

FEW = 10  # architectures of the test split below which a setting's figures say little


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def ends(found: tuple[float, float] | None, form=percent) -> str:
    return "-" if found is None else f"{form(found[0])} to {form(found[1])}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def of_resource(rows: list[dict], name: str) -> list[dict]:
    return [row for row in rows if resource_of(row) == name]


def mean_and_median(errors: list[float]) -> str:
    return f"{percent(statistics.fmean(errors))} ({percent(statistics.median(errors))})" if errors else "-"


def floor_cells(rows: list[dict]) -> list[str]:
    cells = [mean_and_median(floor_errors(of_resource(rows, name))) for name in RESOURCES]
    return ["noise of one run", *cells, "", ""]


def methods_table(rows_of: dict[str, list[dict]], base: str, quoted: bool = True, floors: bool = False) -> list[str]:
    """Workers of the base setting, a line per method; `floors`: each line has its own noise, else the first's."""
    body = []
    for method, rows in rows_of.items():
        some = of_setting(rows, base)
        cells = [mean_and_median([error_of(row) for row in of_resource(some, name)]) for name in RESOURCES]
        title = f"`{method}`" if quoted else method
        body.append([title, *cells, number(mean_of_resources(some, log_rmse)), number(mean_nrmse(some))])
        if floors:
            body.append(floor_cells(some))
    if not floors:
        body.append(floor_cells(of_setting(next(iter(rows_of.values())), base)))
    return table(["method" if quoted else "machine", *RESOURCES.values(), "log RMSE", "NRMSE"], body, 1)


def best_without_physics(rows_of: dict[str, list[dict]], base: str, candidates: list[str]) -> str:
    return min(candidates, key=lambda method: mean_of_resources(of_setting(rows_of[method], base), mean_error))


def ratio_table(rows_of: dict[str, list[dict]], base: str, default: str, others: list[str]) -> list[str]:
    body = []
    ours = of_setting(rows_of[default], base)
    for other in others:
        theirs = of_setting(rows_of[other], base)
        cells = []
        for measure in (mean_error, log_rmse):
            whole = lambda rows, measure=measure: mean_of_resources(rows, measure)  # noqa: E731
            found = ratio_interval(ours, theirs, whole)
            cells += [f"{whole(ours) / whole(theirs):.2f}", ends(found, lambda x: f"{x:.2f}")]
        body.append([f"`{default}` / `{other}`", *cells])
    return table(["ratio", "mean error", "interval", "log RMSE", "interval"], body, 1)


def intervals_table(rows: list[dict], base: str) -> list[str]:
    """The default's mean errors with intervals over architectures, beside the floor."""
    body = []
    some = of_setting(rows, base)
    for name, title in RESOURCES.items():
        one = of_resource(some, name)
        errors = [error_of(row) for row in one]
        floor = floor_errors(one)
        body.append([title, f"{len({row['model'] for row in one})}", percent(mean_error(one)),
                     ends(interval(one, mean_error)), percent(statistics.median(errors)),
                     percent(statistics.fmean(floor) if floor else None), number(log_rmse(one)),
                     ends(interval(one, log_rmse), number)])  # fmt: skip
    return table(["resource", "architectures", "mean error", "90 % interval", "median", "floor", "log RMSE",
                  "90 % interval"], body, 1)  # fmt: skip


def numbers_table(rows_of: dict[str, list[dict]], base: str) -> list[str]:
    """NRMSE of each of the twelve numbers, a column per method."""
    found = {method: nrmse_of_each(of_setting(rows, base)) for method, rows in rows_of.items()}
    first = of_setting(next(iter(rows_of.values())), base)
    body = []
    for name in twelve():
        _, resource, which = name.split(".")
        floor = floor_errors([row for row in first if row["number"] == name])
        body.append([RESOURCES[resource], NUMBERS[which], *(number(of_one.get(name)) for of_one in found.values()),
                     percent(statistics.fmean(floor) if floor else None)])  # fmt: skip
    body.append(["all twelve", "", *(number(mean_nrmse(of_setting(rows, base))) for rows in rows_of.values()), ""])
    body.append(["interval", "", *(ends(interval(of_setting(rows, base), mean_nrmse), number)
                                   for rows in rows_of.values()), ""])  # fmt: skip
    return table(["resource", "number", *(f"`{method}`" for method in rows_of), "floor, mean"], body, 2)


def other_numbers_table(rows: list[dict], settings: list[str], names: dict[str, str]) -> list[str]:
    """Errors of numbers that are none of the twelve, by setting."""
    body = []
    for setting in settings:
        for name, title in names.items():
            some = of_setting(rows, setting, [name])
            if not some:
                continue
            floor = floor_errors(some)
            body.append([setting, title, f"{len(some)}", percent(mean_error(some)),
                         percent(statistics.median(map(error_of, some))),
                         percent(statistics.fmean(floor) if floor else None),
                         percent(statistics.median(floor) if floor else None), number(log_rmse(some)),
                         f"{sum(not row['predicted'] for row in some)}"])  # fmt: skip
    return table(["setting", "number", "jobs", "mean", "median", "floor", "its median", "log RMSE", "missing"], body, 2)


def per_step_names(role: str) -> dict[str, str]:
    return {f"{role}.{resource}.burst_per_step_s": f"{title}, burst per step" for resource, title in RESOURCES.items()}

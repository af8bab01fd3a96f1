# SPDX-License-Identifier: Apache-2.0
"""Scores, what-if signs and shares of data by hand."""
import json
import math
import pathlib
import unittest

import inspector_plots
import inspector_runs
import inspector_scores as scores
import inspector_transfer as transfer
import inspector_what_if as what_if


def row(model="m", number="worker.net_tx.burst_s", measured=1.0, predicted=1.0, runs=(1.0,), **request):
    return {"model": model, "setting": "base", "number": number, "measured": f"{measured}", "runs":
            " ".join(map(str, runs)), "repeats": f"{len(runs)}", "predicted": "" if predicted is None else f"{predicted}",
            "request": json.dumps({"model": model, "batch": 4, **request})}  # fmt: skip


class Scores(unittest.TestCase):
    def test_what_is_not_predicted_is_wrong_by_all_of_it(self):
        self.assertEqual(scores.error_of(row(predicted=None)), 1)
        self.assertAlmostEqual(scores.error_of(row(measured=2, predicted=3)), 0.5)

    def test_nrmse_is_over_the_largest_value(self):
        # Errors 1 and 0 of values 4 and 2: sqrt(1 / 2) / 4.
        rows = [row(measured=4, predicted=3), row(measured=2, predicted=2)]
        self.assertAlmostEqual(scores.nrmse(rows), math.sqrt(0.5) / 4)
        # Another number without error halves the mean.
        self.assertAlmostEqual(scores.mean_nrmse([*rows, row(number="worker.net_tx.idle_s")]), math.sqrt(0.5) / 8)

    def test_a_run_is_held_against_the_median_of_the_others(self):
        # 2 against 1.5, the median of 1 and 2; and so on.
        found = scores.deviations(row(runs=(2, 1, 2)))
        self.assertAlmostEqual(found[0], math.log(2 / 1.5))
        self.assertAlmostEqual(found[1], math.log(1 / 2))
        self.assertEqual(scores.deviations(row(runs=(2,))), [])

    def test_intervals_draw_architectures(self):
        # Equal errors: any draw has the same mean. Two architectures are too few to draw from.
        same = [row(model=f"m{i}", predicted=1.2) for i in range(5)]
        low, high = scores.interval(same, scores.mean_error)
        self.assertAlmostEqual(low, 0.2)
        self.assertAlmostEqual(high, 0.2)
        self.assertIsNone(scores.interval(same[:2], scores.mean_error))
        mixed = [row(model=f"m{i}", predicted=1 + i / 10) for i in range(10)]
        low, high = scores.interval(mixed, scores.mean_error)
        self.assertTrue(low < 0.45 < high)  # the mean of 0, 0.1, ..., 0.9

    def test_ratios_see_the_same_draws(self):
        ours = [row(model=f"m{i}", predicted=1 + i / 100) for i in range(1, 9)]
        theirs = [row(model=f"m{i}", predicted=1 + i / 50) for i in range(1, 9)]
        low, high = scores.ratio_interval(ours, theirs, scores.mean_error)
        self.assertAlmostEqual(low, 0.5)
        self.assertAlmostEqual(high, 0.5)


class WhatIf(unittest.TestCase):
    def test_a_pair_differs_in_one_thing(self):
        ddp, ps = {"kind": "ddp"}, {"kind": "ps", "servers": 1, "asynchronous": False}
        self.assertEqual(what_if.kind_of({"batch": 1}, {"batch": 2}), "batch")
        self.assertEqual(what_if.kind_of({"strategy": ddp}, {"strategy": ps}), "strategy")
        self.assertEqual(what_if.kind_of({"strategy": ps}, {"strategy": {**ps, "asynchronous": True}}), "asynchronous")
        self.assertEqual(what_if.kind_of({"strategy": ps}, {"strategy": {**ps, "servers": 2}}), "servers")
        self.assertIsNone(what_if.kind_of({"batch": 1, "network": "a"}, {"batch": 2, "network": "b"}))
        self.assertIsNone(what_if.kind_of({"batch": 1}, {"batch": 1}))

    def test_only_changes_beyond_the_noise_count(self):
        # Noise 0.1: two runs whose logarithms differ by 0.1. Changes of log 2 count, of 0.15 do not.
        noisy = row(model="n", runs=(1, math.exp(0.1)))
        rows = [noisy, row(batch=4), row(measured=2, predicted=1.1, batch=8), row(model="k", batch=4),
                row(model="k", measured=math.exp(0.15), predicted=0.5, batch=8)]  # fmt: skip
        noise = what_if.noise_of(rows)
        self.assertAlmostEqual(noise["worker.net_tx.burst_s"], 0.1)
        changes = what_if.changes_of(rows, noise)
        self.assertEqual(len(changes), 2)
        self.assertEqual(what_if.right_share(changes), (1, 1))
        self.assertEqual(what_if.right_share(changes, 1), (1, 2))

    def test_medians_of_several_runs_have_less_noise(self):
        # Four runs each: sqrt((1/4 + 1/4) / 2) = 1/2.
        four = dict(runs=(1, 1, 1, 1))
        change = what_if.Change("batch", row(**four), row(measured=2, **four), 0.1)
        self.assertAlmostEqual(change.noise, 0.05)

    def test_a_number_that_is_not_predicted_has_no_right_sign(self):
        change = what_if.Change("batch", row(), row(measured=2, predicted=None), 0.1)
        self.assertFalse(change.is_right())

    def test_weak_cells_are_named(self):
        changes = [what_if.Change("batch", row(), row(measured=2, predicted=0.5 if i else 2), 0.1) for i in range(5)]
        self.assertEqual(what_if.weak_cells(changes), [("batch", "worker.net_tx.burst_s", 1, 5)])
        header, body = what_if.table_rows(changes)
        self.assertEqual(body[0][header.index("Tx")], "1/5")
        self.assertEqual(body[-1][0], "all")


class Transfer(unittest.TestCase):
    def points(self, transferred, scratch):
        points = {}
        for side, errors in (("transfer", transferred), ("scratch", scratch)):
            for fraction, error in zip(transfer.FRACTIONS, errors):
                point = points["default", side, "s", fraction] = inspector_runs.Scores()
                point.error = [error]
                point.architectures = round(100 * fraction)
        return points

    def test_the_share_needed_lies_where_the_curve_meets_scratch(self):
        # At a tenth already as good; never as good; half way between 10 and 30: 10 sqrt(3).
        self.assertAlmostEqual(transfer.share_needed(self.points((0.2, 0.1, 0.1), (1, 1, 0.2)), "default", "s"), 0.1)
        self.assertIsNone(transfer.share_needed(self.points((0.4, 0.3, 0.3), (1, 1, 0.2)), "default", "s"))
        found = transfer.share_needed(self.points((0.4, 0.2, 0.2), (1, 1, 0.3)), "default", "s")
        self.assertAlmostEqual(found, 0.1 * math.sqrt(3))

    def test_a_share_has_at_least_three_architectures(self):
        self.assertEqual(transfer.drawn(12, 0.1), (3, ["--fraction", "0.2500", "--folds", "3"]))
        self.assertEqual(transfer.drawn(24, 1.0), (24, ["--fraction", "1.0000", "--folds", "5"]))

    def test_a_picture_has_a_line_per_setting_and_side(self):
        lines = {("transfer", "a"): [(3, 0.2), (24, 0.1)], ("scratch", "a"): [(3, 0.5), (24, 0.3)]}
        svg = inspector_plots.curves({"default": lines})
        self.assertEqual(svg.count('fill="none"'), 2)
        self.assertTrue(svg.startswith("<svg"))


class RunFacts(unittest.TestCase):
    def test_what_training_says_is_read(self):
        said = ("  12 architectures, 40 examples; 92236 parameters\n"
                "  150 epochs in 9.5 s, each 0.05 s of processor time; the best was 80 with validation loss 0.1\n")  # fmt: skip
        self.assertEqual(inspector_runs.facts_of(said), {"epochs": 150, "s_per_epoch": 0.05, "best_epoch": 80,
                         "processor_s": 7.5, "architectures": 12, "examples": 40, "parameters": 92236})  # fmt: skip
        self.assertEqual(inspector_runs.facts_of("written: x\n"), {})

    def test_whole_jobs_are_medians_of_their_runs(self):
        # Lines 2 and 3 are one whole job of the test split, 4 is none, 5 is of the train split.
        runs = [{"wall_s": wall, "split": split, "setting": "s"}
                for wall, split in (("9", "test"), ("9", "test"), ("", "test"), ("9", "train"))]  # fmt: skip
        judged = [{"line": f"{line}", "metric": "wall time, s", "measured": f"{line}", "predicted": "7", "model": "m",
                   "request": "{}"} for line in (2, 3, 4, 5)]  # fmt: skip
        rows = inspector_runs.whole_job_rows(runs, judged)
        self.assertEqual([(row["number"], row["measured"], row["repeats"]) for row in rows], [("wall_s", "2.5", "2")])

    def test_sources_that_learn_are_part_of_a_run(self):
        self.assertGreater(len(inspector_runs.learner_sources(pathlib.Path(__file__).resolve().parent.parent)), 20)


if __name__ == "__main__":
    unittest.main()

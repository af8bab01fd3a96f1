# SPDX-License-Identifier: Apache-2.0
"""Tests of write_accuracy.py; the numbers are invented."""
import math
import unittest
import xml.etree.ElementTree

import accuracy_plot
import write_accuracy

SCORE = {"rows": 40, "predicted": 10, "refused": 20, "mape_percent": 12.34, "median_ape_percent": 5.0, "bias_percent": 3.0}
RESULT = {
    "groups": [
        {"file": "made", "metric": "a|b", **SCORE},
        {"file": "made", "metric": "unseen", "rows": 3, "predicted": 0, "refused": 3},
    ],
    "files": [{"file": "made", **SCORE}],
    "total": SCORE,
    "unmapped": [
        {"file": "made", "outcome": "refused", "reason": "too <new>", "rows": 20},
        *[{"file": "made", "outcome": "unmapped", "reason": f"reason {i}", "rows": 1} for i in range(10)],
    ],
}


ROWS = [
    {"file": "made", "line": "2", "device": "t4", "metric": "a|b", "measured": "1", "predicted": "1.2", "error": "0.2"},
    {"file": "made", "line": "3", "device": "t4", "metric": "a|b", "measured": "1", "predicted": "0.9", "error": "-0.1"},
    {"file": "made", "line": "4", "device": "t4", "metric": "a|b", "measured": "1", "predicted": "", "error": ""},
    {"file": "made", "line": "5", "device": "t4", "metric": "unmapped", "measured": "", "predicted": "", "error": ""},
]
JUDGED = [{"file": "made", "line": "2", "device": "t4", "metric": "a|b", "measured": "1", "predicted": "1.2", "low": "0.9",
           "high": "1.5", "one_ratio": "2"}]


class WriteAccuracy(unittest.TestCase):
    def test_shares_count_refused_rows_as_mapped(self):
        self.assertEqual(write_accuracy.coverage(RESULT)[2], "| made |  | 40 | 30 | 75.0 % | 10 | 20 | 10 |")

    def test_errors_are_of_predicted_rows_and_refused_ones_count_apart(self):
        lines = write_accuracy.by_source(ROWS, {("made", "2"): True, ("made", "3"): False})
        self.assertEqual(len(lines), 3)
        # Errors +20 % and -10 %, one refused: (20 + 10 + 100) / 3.
        self.assertTrue(lines[2].endswith("| 2 | 1 | 15.0 % | 15.0 % | +5.0 % | 43.3 % | 50.0 % |"), lines[2])

    def test_ways_show_what_is_there(self):
        score = {"cases": 1200, "refused": 0, "mape_percent": 12.34, "median_ape_percent": 5.0, "bias_percent": -3.0}
        source = {"file": "made", "number": "all steps", "facts": 9, "recovered": 0, "left_out": 0, "fitted": 2, "plain": score,
                  "informed": {**score, "mape_percent": 7.0}, "calibrated": None}
        lines = write_accuracy.ways([source, {**source, "plain": None}])
        self.assertEqual(lines[2], "| made | all steps | 1,200 | 0 | 12.3 % | 5.0 % | -3.0 % | 7.0 % |  |  |")
        self.assertEqual(lines[-1], "| made | 9 | 0 | 0 | 2 |")

    def test_an_interval_is_judged_by_its_width_and_what_lies_outside(self):
        # measured / predicted = e against ends 1 and e^0.5: width 0.5, 0.5 outside costs 20 times as much.
        row = {"file": "made", "measured": math.e, "predicted": 1, "low": 1, "high": math.exp(0.5), "one_ratio": math.exp(2)}
        cells = write_accuracy.intervals([row])[2]
        self.assertEqual(cells, "| made | 1 | 0.0 % | 1.65 | 10.50 | 100.0 % | 4.00 | -162.5 % |")

    def test_operators_of_a_kind_are_weighted_by_their_cases(self):
        groups = [{"metric": name, "device": "l4", "predicted": cases, "mape_percent": error, "bias_percent": -error}
                  for name, cases, error in [("bmm, test", 30, 20.0), ("linear, test", 10, 4.0), ("linear, train", 99, 99.0)]]
        lines = write_accuracy.operators({"groups": groups})
        # (30 * 20 + 10 * 4) / 40 = 16.
        self.assertEqual(lines[2:], ["| GEMM | l4 | GPU left out | 40 | 16.0 % | -16.0 % |"])

    def test_a_plot_draws_a_pixel_once(self):
        text = accuracy_plot.scatter({"t4 <x>": [(0.1, 0.2), (0.1, 0.2), (0.5, 0.5)]}, "step")
        self.assertEqual(text.count("h0"), 2)
        xml.etree.ElementTree.fromstring(text)  # well-formed
        self.assertIn("t4 &lt;x&gt; (3)", text)
        # A decade from 100 ms to 1 s: 0.1 lies on the left edge.
        self.assertIn(f"M{accuracy_plot.LEFT} ", text)

    def test_reasons_add_up(self):
        lines = write_accuracy.reasons(RESULT)
        self.assertEqual(lines[3], "- 20 refused: too &lt;new>")
        self.assertEqual(lines[-1], "- 5 for 5 other reasons")

    def test_every_mapping_says_where_it_is_from_and_what_it_was_used_for(self):
        for path in write_accuracy.MAPPINGS.glob("*.json"):
            self.assertTrue(write_accuracy.repositories(path.stem), path.name)
            self.assertTrue(write_accuracy.mapping(path.stem).get("constants"), path.name)

    def test_the_page_ends_with_one_line_end(self):
        text = write_accuracy.page(RESULT, ROWS, JUDGED, [], None, [])
        self.assertTrue(text.endswith("reasons\n"))


if __name__ == "__main__":
    unittest.main()

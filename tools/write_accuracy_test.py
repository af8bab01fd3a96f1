# SPDX-License-Identifier: Apache-2.0
"""Tests of write_accuracy.py; the numbers are invented."""
import unittest

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


class WriteAccuracy(unittest.TestCase):
    def test_shares_count_refused_rows_as_mapped(self):
        self.assertEqual(write_accuracy.coverage(RESULT)[2], "| made |  | 40 | 30 | 75.0 % | 10 | 20 | 10 |")

    def test_errors_are_of_predicted_groups_only(self):
        lines = write_accuracy.errors(RESULT)
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[2], "| made | a\\|b | 10 | 12.3 % | 5.0 % | +3.0 % |")

    def test_reasons_add_up(self):
        lines = write_accuracy.reasons(RESULT)
        self.assertEqual(lines[3], "- 20 refused: too &lt;new>")
        self.assertEqual(lines[-1], "- 5 for 5 other reasons")

    def test_every_mapping_says_where_it_is_from_and_what_it_was_used_for(self):
        for path in write_accuracy.MAPPINGS.glob("*.json"):
            self.assertTrue(write_accuracy.repositories(path.stem), path.name)
            self.assertTrue(write_accuracy.mapping(path.stem).get("constants"), path.name)

    def test_the_page_ends_with_one_line_end(self):
        text = write_accuracy.page(RESULT)
        self.assertTrue(text.endswith("reasons\n"))


if __name__ == "__main__":
    unittest.main()

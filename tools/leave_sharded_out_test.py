# SPDX-License-Identifier: Apache-2.0
"""Checks the splits and the table of tools/leave_sharded_out.py."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from leave_sharded_out import splits_by_hidden, table


class LeaveShardedOut(unittest.TestCase):
    def test_each_hidden_size_is_scored_by_the_others(self):
        rows = [{"notes": f"hidden={size}; layers=4"} for size in (1024, 1024, 2048)]
        seen = []
        for name, known, parts in splits_by_hidden(rows):
            self.assertEqual(name, "other hidden sizes")
            for part, unknown in parts.items():
                self.assertTrue(all(known(row) != unknown(row) for row in rows))
                seen.append((part, sum(map(unknown, rows))))
        self.assertEqual(seen, [("hidden 1024", 2), ("hidden 2048", 1)])

    def test_parts_of_all_rows_have_a_mean(self):
        """(30 rows of 8 % and 10 of 12 %) / 40 = 9 %; biases -4 and +4 % make -2 %."""
        results = [("other hidden sizes", "hidden 1", {"rows": 30, "mape_percent": 8.0, "bias_percent": -4.0}),
                   ("other hidden sizes", "hidden 2", {"rows": 10, "mape_percent": 12.0, "bias_percent": 4.0})]
        self.assertEqual(table(results).splitlines()[-1], "| | all | 40 | 9.0 % | -2.0 % |")
        self.assertNotIn("| all |", table([("8 GPUs", *results[0][1:]), ("small", *results[1][1:])]))


if __name__ == "__main__":
    unittest.main()

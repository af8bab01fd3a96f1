# SPDX-License-Identifier: Apache-2.0
"""Tests of lab_costs.py; the numbers are invented."""
import unittest

import lab_data
import lab_costs


class LabCosts(unittest.TestCase):
    def test_least_squares_finds_what_made_the_points(self):
        points = [(x, z, 3 * x + 0.5 * z) for x, z in ((1, 2), (2, 1), (4, 7))]
        a, b = lab_costs.least_squares(points)
        self.assertAlmostEqual(a, 3)
        self.assertAlmostEqual(b, 0.5)

    def test_a_point_is_what_is_left_of_the_step(self):
        numbers = {"step_median_s": 0.5, "exposed_sync_s": 0.1, "compute_s": 0.3, "parameters": 1000}
        run = lab_data.Run("", "one", "train", "cnn", True, numbers)
        # 20 gradients, 4,000 bytes and 0.1 s, each for 0.5 s of step.
        for value, expected in zip(lab_costs.point(run, 20), (40, 8000, 0.2), strict=True):
            self.assertAlmostEqual(value, expected)

    def test_large_tensors_count_apart(self):
        nodes = [{"op": "relu", "outputs": [[2, 3, 5, 7], [6]]}, {"op": "conv", "outputs": [[10, 64, 100, 100]]}]
        self.assertEqual(lab_costs.written_bytes(nodes), (864 + 25_600_000, 25_600_000))


if __name__ == "__main__":
    unittest.main()

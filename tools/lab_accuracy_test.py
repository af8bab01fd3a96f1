# SPDX-License-Identifier: Apache-2.0
"""Tests of lab_accuracy.py; the numbers are invented."""
import unittest

import lab_accuracy

JUDGED = [
    {"metric": "step_time, one", "model": "mlp", "measured": "1", "predicted": "1.1"},
    {"metric": "step_time, one", "model": "resnet18", "measured": "2", "predicted": "1.4"},
    {"metric": "wall time, two", "model": "mlp", "measured": "10", "predicted": "10"},
    {"metric": "exposed_sync, one", "model": "mlp", "measured": "0.1", "predicted": "0.2"},
]


class LabAccuracy(unittest.TestCase):
    def test_summary(self):
        # Sizes 0.1 and 0.3: mean and median 0.2; mean of +0.1 and -0.3 is -0.1.
        self.assertEqual(lab_accuracy.summary([0.1, -0.3]), ["2", "20.0 %", "20.0 %", "-10.0 %"])

    def test_tables_by_setting_and_family(self):
        lines = lab_accuracy.tables(JUDGED)
        self.assertIn("| one | 2 | 20.0 % | 20.0 % | -10.0 % |", lines)
        self.assertIn("| cnn | 1 | 30.0 % | 30.0 % | -30.0 % |", lines)
        self.assertIn("| two | 1 | 0.0 % | 0.0 % | +0.0 % |", lines)

    def test_all_runs_of_other_models_need_a_prediction(self):
        calibrates = {"model": "a", "measured": "1", "predicted": "", "reason": lab_accuracy.CALIBRATES}
        bad = {"model": "b", "measured": "", "predicted": "", "reason": "the run was not good: outlier"}
        good = {"model": "c", "measured": "1", "predicted": "2", "reason": ""}
        self.assertEqual(lab_accuracy.score([calibrates, bad, good]), [good])
        with self.assertRaisesRegex(SystemExit, "1 runs have no prediction; d: too large"):
            lab_accuracy.score([good, {"model": "d", "measured": "1", "predicted": "", "reason": "too large"}])

    def test_a_picture_for_each_number(self):
        self.assertEqual(sorted(lab_accuracy.pictures(JUDGED)), [
            "lab_accuracy_exposed_sync.svg", "lab_accuracy_step_time.svg", "lab_accuracy_wall_time.svg"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()

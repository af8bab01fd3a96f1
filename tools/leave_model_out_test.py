# SPDX-License-Identifier: Apache-2.0
import csv
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import leave_model_out


def total(rows: int, mape: float) -> dict:
    return {"rows": rows, "predicted": rows, "refused": 0, "mape_percent": mape, "bias_percent": -mape}


class LeaveModelOut(unittest.TestCase):
    def test_weighs_models_by_rows(self):
        # (300 * 10 + 100 * 30) / 400
        self.assertAlmostEqual(leave_model_out.mean_error([total(300, 10), total(100, 30)]), 15)

    def test_page_has_a_line_per_model_and_one_for_all(self):
        scores = {"a": [total(300, 10)] * 5, "b": [total(100, 30)] * 5}
        text = leave_model_out.page(scores)
        self.assertIn("| a | 300 | 10.0 % | 10.0 % | -10.0 % | 10.0 % | 10.0 % | 10.0 % |", text)
        self.assertIn("| all rows | 400 | 15.0 % | 15.0 % |  | 15.0 % | 15.0 % | 15.0 % |", text)

    def test_keeps_the_steps_of_one_model(self):
        with tempfile.TemporaryDirectory() as folder:
            file, out = pathlib.Path(folder, "in.csv"), pathlib.Path(folder, "out.csv")
            file.write_text("model,metric,value\na,step_time,1\nb,step_time,2\na,sync_time,3\n", encoding="utf-8")
            leave_model_out.write_rows_of("a", file, out)
            with out.open(newline="", encoding="utf-8") as lines:
                self.assertEqual(list(csv.DictReader(lines)), [{"model": "a", "metric": "step_time", "value": "1"}])
            self.assertEqual(leave_model_out.models_of(file), ["a", "b"])


if __name__ == "__main__":
    unittest.main()

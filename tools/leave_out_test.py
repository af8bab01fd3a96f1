# SPDX-License-Identifier: Apache-2.0
"""Tests of leave_out.py; the numbers are invented."""
import csv
import pathlib
import tempfile
import unittest

import leave_out

GROUPS = [
    {"device": "a", "precision": "fp32", "rows": 1, "mape_percent": 10.0},
    {"device": "a", "precision": "tf32", "rows": 3, "mape_percent": 2.0},
    {"device": "a", "precision": "fp16", "rows": 2, "mape_percent": 7.0},
    {"device": "b", "precision": "fp16", "rows": 2, "mape_percent": 99.0},
]


class LeaveOut(unittest.TestCase):
    def test_means_are_over_rows(self):
        self.assertEqual(leave_out.mean(GROUPS[:2]), 4.0)  # (10 + 3 * 2) / 4

    def test_precisions_of_one_device(self):
        self.assertEqual(leave_out.by_precision(GROUPS, "a"), [4.0, 7.0])

    def test_families(self):
        self.assertEqual(leave_out.family_of("wide_resnet50_2"), "resnet")
        self.assertEqual(leave_out.family_of("resnext50_32x4d"), "resnext")
        self.assertEqual(leave_out.family_of("vgg11_bn"), "vgg")

    def test_keeps_steps_of_one_gpu_and_family(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
            source.write_text("model,gpus,precision\nvgg11,1,FP32\nvgg11,2,FP32\nvgg11,1,FP64\nresnet18,1,FP16\n",
                              encoding="utf-8")
            leave_out.one_gpu_steps(source, target, "vgg")
            with target.open(encoding="utf-8") as file:
                self.assertEqual([row["model"] for row in csv.DictReader(file)], ["vgg11"])
            leave_out.one_gpu_steps(source, target)
            with target.open(encoding="utf-8") as file:
                self.assertEqual(len(list(csv.DictReader(file))), 2)

    def test_tables_round_to_tenths(self):
        self.assertEqual(leave_out.table(["left out", "error"], [["x", 1.26]])[2], "| x | 1.3 |")


if __name__ == "__main__":
    unittest.main()

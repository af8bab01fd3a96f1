# SPDX-License-Identifier: Apache-2.0
"""Tests of write_lab.py, lab_data.py and lab_plots.py; the numbers are invented."""
import collections
import pathlib
import tempfile
import unittest

import lab_data
import lab_plots
import write_lab

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = """\
id,campaign,machine,configuration,setting,split,repeat,started,status,message,calibration_before_s,calibration_after_s,foreign_load,wall_s,steps,step_mean_s,step_median_s,step_sd_s,exposed_sync_s,details
1,lab,m,"{""batch"":2,""model"":""mlp""}",one,train,0,t,ok,,0.1,0.1,0.0,,20,0.2,0.2,0,0.05,"{""compute_s"":0.1}"
2,lab,m,"{""batch"":2,""model"":""mlp""}",one,train,1,t,ok,,0.1,0.3,0.5,,20,0.4,0.4,0,0.05,
3,lab,m,"{""batch"":4,""model"":""random:family=cnn,seed=1""}",one,test,0,t,failed,a worker failed,,,,,,,,,,
4,lab,m,"{""batch"":4,""model"":""random:family=cnn,seed=1""}",one,test,0,t,ok,,0.1,0.1,0.0,9,20,0.25,0.25,0,0.05,
"""
METRICS = """\
run,role,instance,resource,unit,pattern,burst_amount,idle_amount,burst_s,idle_s,burst_amount_sd,idle_amount_sd,burst_sd_s,idle_sd_s
1,worker,0,gpu_util,%,BIB,80,2,0.1,0.3,,,,
1,worker,1,gpu_util,%,BIB,60,2,0.1,0.3,,,,
2,worker,0,gpu_util,%,BIB,100,2,0.1,0.3,,,,
2,worker,1,gpu_util,%,I,,2,,,,,,
"""


def sample() -> lab_data.Campaign:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "runs.csv").write_text(RUNS, encoding="utf-8")
        (path / "metrics.csv").write_text(METRICS, encoding="utf-8")
        return lab_data.load(path)


class Arithmetic(unittest.TestCase):
    def test_noise_is_one_against_the_mean_of_the_others(self):
        # |1/2 - 1| = 0.5 and |2/1 - 1| = 1.
        self.assertAlmostEqual(lab_data.noise([1, 2]), 0.75)
        # 1 against 3: 2/3; 2 against 2.5: 1/5; 4 against 1.5: 5/3. Their mean is 38/45.
        self.assertAlmostEqual(lab_data.noise([1, 2, 4]), 38 / 45)

    def test_noise_of_means_of_two(self):
        # 1.5 against 4: 5/8; 2.5 against 2: 1/4; 3 against 1: 2. Their mean is 23/24.
        self.assertAlmostEqual(lab_data.noise([1, 2, 4], 2), 23 / 24)
        self.assertIsNone(lab_data.noise([1, 2], 2))
        self.assertIsNone(lab_data.noise([1]))
        self.assertIsNone(lab_data.noise([0, 0]))

    def test_series_without_repeats_do_not_count(self):
        self.assertEqual(lab_data.mean_noise([[1, 2], [5]]), (0.75, 1))
        self.assertEqual(lab_data.mean_noise([[5]]), (None, 0))

    def test_quantiles_lie_between_values(self):
        self.assertEqual(lab_data.quantile([30, 10, 20], 0.5), 20)
        self.assertAlmostEqual(lab_data.quantile([10, 20], 0.1), 11)
        self.assertEqual(lab_data.quantile([7], 0.9), 7)

    def test_a_configuration_counts_once(self):
        # (1 + 3) / 2 = 2, and 5.
        self.assertEqual(lab_data.means([("g", "a", 1.0), ("g", "a", 3.0), ("g", "b", 5.0)]), {"g": [2.0, 5.0]})

    def test_families(self):
        for model, family in (("random:family=lstm,seed=3,seq=16", "lstm"), ("gpt:layers=2", "transformer"),
                              ("mlp", "mlp"), ("resnet18-cifar", "cnn")):  # fmt: skip
            self.assertEqual(lab_data.family_of(model), family)


class Page(unittest.TestCase):
    def test_loads_runs_that_count(self):
        campaign = sample()
        self.assertEqual([run.quiet for run in campaign.runs], [True, False, True])
        self.assertEqual(campaign.others, collections.Counter({("one", "failed"): 1}))
        self.assertEqual(campaign.runs[0].numbers["compute_s"], 0.1)
        self.assertEqual(campaign.traces[3].metrics, {})

    def test_counts(self):
        # Quiet: two of three runs that count.
        self.assertEqual(write_lab.counts(sample())[2], "| one | 1 | 0 | 2 | 1 | 1 | 66.7 % | 0.00 | 1 failed |")

    def test_patterns_are_shares_of_traces(self):
        self.assertEqual(write_lab.pattern_table(sample())[2], "| worker | device utilisation | 4 | 25.0 % | 75.0 % | 0.0 % |")

    def test_spreads_are_of_means_of_configurations(self):
        # (80 + 60 + 100) / 3 = 80.
        line = write_lab.spread_table(sample(), lambda run: run.family, ["mlp"], "family")[2]
        self.assertEqual(line, "| worker | device utilisation | mlp | 1 | 80 % | 100 ms | 300 ms |")
        self.assertEqual(write_lab.spread_text([0.1, 0.2], "s"), "150 (110–190) ms")
        self.assertEqual(write_lab.spread_text([0.5, 1.5], "s"), "1 s (600 ms – 1.4 s)")

    def test_noise_tells_quiet_runs_from_others(self):
        lines = write_lab.step_noise_table(sample())
        # 0.2 against 0.4; with calibrations 0.1 and 0.2 both are 2.
        self.assertIn("| step | all | 1 | 75.0 % |  |", lines)
        self.assertIn("| step | with foreign load | 1 | 75.0 % |  |", lines)
        self.assertIn("| step over calibration | all | 1 | 0.0 % |  |", lines)
        self.assertFalse([line for line in lines if "| quiet |" in line])
        # 80 against 100: 0.2 and 0.25; worker 1 has one value.
        self.assertTrue(write_lab.noise_table(sample())[2].startswith("| worker | device utilisation | all | 1 | 22.5 % |"))

    def test_steps_over_calibration_leave_slow_fixed_work_out(self):
        def run(work):
            numbers = {"step_median_s": 1.0, "calibration_before_s": work, "calibration_after_s": work}
            return lab_data.Run("c", "one", "train", "cnn", True, numbers)

        # The median is 0.2: 0.25 is within 1.4 times of it, 0.3 is not.
        values = [value for _, _, value in write_lab.calibrated([run(0.1), run(0.2), run(0.3), run(0.2), run(0.25)])]
        self.assertEqual(values, [10, 5, 5, 4])

    def test_whole_jobs(self):
        # 20 steps of 0.25 s are 5 of 9 s.
        self.assertEqual(write_lab.whole_table(sample())[2], "| one | 1 | 9 s | 4 s |")

    def test_pictures_are_well_formed_and_inside(self):
        from xml.etree import ElementTree

        for name, text in write_lab.pictures(sample()).items():
            root = ElementTree.fromstring(text)
            width, height = (float(n) for n in root.get("viewBox").split()[2:])
            for part in root.iter("{http://www.w3.org/2000/svg}rect"):
                self.assertLessEqual(float(part.get("x", 0)) + float(part.get("width")), width, name)
                self.assertLessEqual(float(part.get("y", 0)) + float(part.get("height")), height, name)

    def test_axes(self):
        axis = lab_plots.Axis([0.02, 0.5], "s", 0, 100)
        self.assertEqual([axis.place(v) for v in (0.01, 0.1, 1)], [0, 50, 100])
        self.assertEqual(lab_plots.Axis([3], "%", 10, 100).place(50), 60)
        self.assertEqual(lab_plots.quantity(117e6, "B/s"), "117 MB/s")

    def test_the_page_is_that_of_the_data(self):
        for name, text in write_lab.outputs(ROOT / "data/lab/measured").items():
            self.assertEqual((ROOT / "docs" / name).read_text(encoding="utf-8"), text, f"{name}: run make lab-report")


if __name__ == "__main__":
    unittest.main()

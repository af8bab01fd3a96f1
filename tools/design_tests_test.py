# SPDX-License-Identifier: Apache-2.0
import csv
import json
import pathlib
import tempfile
import unittest

import design_tests

POINTS = [{"share": share, "workloads": 2, "designed": 0.1, "drawn": 0.2, "worst": 0.4, "won": 2} for share in (0.1, 0.5)]


class DesignTests(unittest.TestCase):
    def test_workloads_are_those_with_enough_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            with pathlib.Path(folder, "runs.csv").open("w", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(["configuration", "status", "wall_s"])
                for model, workers in (("many", (1, 2, 3, 4)), ("few", (1, 2))):
                    for count in workers:
                        for samples in (10, 20, 40):
                            job = {"model": model, "batch": 2, "cores": 0.5, "strategy": {"kind": "ddp"}, "workers": count, "samples": samples}
                            writer.writerow([json.dumps(job), "ok", 3 + samples / count])
                            writer.writerow([json.dumps(job), "failed", 1])
            found = design_tests.workloads_of(pathlib.Path(folder))
            self.assertEqual(list(found), ["many, batch 2, 0.5 cores, ddp"])
            runs = found["many, batch 2, 0.5 cores, ddp"]
            self.assertEqual(len(runs), 12)
            self.assertEqual(runs[0], {"workers": 1, "samples": 10, "fraction": 0.25, "time": 13, "cost": 13})

    def test_drawn_runs_keep_the_budget(self):
        runs = [{"cost": cost} for cost in (5, 3, 2, 2, 1)]
        for seed in range(20):
            chosen = design_tests.drawn(runs, 6, seed)
            self.assertLessEqual(sum(runs[i]["cost"] for i in chosen), 6)
            self.assertEqual(chosen, design_tests.drawn(runs, 6, seed))

    def test_the_section_has_a_line_for_each_budget(self):
        self.assertIn("| 10 % | 2 | 10.0 % | 20.0 % | 40.0 % | 2 |", design_tests.jobs_section(POINTS, 20))
        self.assertIn("polyline", design_tests.draw_designs(POINTS))
        self.assertIn("No workload", " ".join(design_tests.jobs_section([], 20)))


if __name__ == "__main__":
    unittest.main()

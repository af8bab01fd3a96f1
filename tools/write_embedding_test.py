# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import embedding_sections
import write_embedding

EVIDENCE = {
    "classifiers": 10, "others": 5, "held_out": [0.5, 0.25, 0.15, 0.7], "steps": 100, "schedule": 200,
    "cpu_s": 60, "targets_steps": 50,
    "compare": [
        {"input": "graph", "seed": 1, "steps": 9, "accuracies": [0.4, 0.6]},
        {"input": "graph", "seed": 2, "steps": 9, "accuracies": [0.6, 0.8]},
        {"input": "nodes", "seed": 1, "steps": 9, "accuracies": [0.3, 0.3]},
        {"input": "none", "seed": 1, "steps": 9, "accuracies": [0.1, 0.2]},
    ],
    "retrieval": {"hypernetwork": {"models": 4, "nearest": 0.75, "average_precision": 0.5}},
    "map": [["a<b", "A", 0, 0], *(["n", "N", i, 2 * i] for i in range(5))],
    "map_shares": [0.5, 0.25],
    "speed": {"cold_s": {"resnet50": 0.012}, "bulk_per_s": 2000},
}


def way(name: str, mean: float) -> dict:
    return {"way": name, "rows": 10, "mean": mean, "median": 0.1, "inside": 0.9, "metrics": {"step": mean}}


TESTS = {
    "rows": 10, "networks": 4, "families": 3, "folds": 2, "notes": [], "chosen": {"plain: svr": 2},
    "ways": [way("plain", 0.15), way("plain: svr", 0.15), way("residual", 0.08), way("residual: svr", 0.08),
             way("embedding alone", 0.4), way("trees on FLOPs, activations, parameters", 0.3), way("operators", 0.2)],
    "curve": [{"networks": 5, "plain": 0.4, "residual": 0.2, "trees": 0.8}, {"networks": 50, "plain": 0.2, "residual": 0.1, "trees": 0.4}],
    "ernest": [{"runs": 3, "workloads": 2, "rows": 9, "ernest": 0.24, "plain": 0.15, "residual": 0.08, "sample_s": 60},
               {"runs": 7, "workloads": 0, "rows": 0, "ernest": 0, "plain": 0, "residual": 0, "sample_s": 0}],
}  # fmt: skip
TIMES = {"timm": TESTS, "torchvision": TESTS, "jobs": TESTS, "encoders": {"not-trained": TESTS},
         "speed": {"cold_s": {"resnet50": 0.02}, "new_per_s": 900, "known_per_s": 4000}}  # fmt: skip


class WriteEmbedding(unittest.TestCase):
    def test_means_are_over_seeds(self):
        table = write_embedding.compare_table(EVIDENCE["compare"])
        # Means of the seeds are 50 % and 70 %: 60 %, their deviation 14.1 %.
        self.assertIn("| 60.0 % ± 14.1 |", table)
        self.assertIn("| 30.0 % | 30.0 % | 1 |", table)

    def test_what_generated_weights_add_is_said_either_way(self):
        rows = {name: {"average_precision": 0.7} for name in ("hypernetwork", "self-supervised alone")}
        self.assertIn("does not", write_embedding.what_weights_add(rows))
        rows["hypernetwork"]["average_precision"] = 0.75
        self.assertIn("adds 0.050", write_embedding.what_weights_add(rows))

    def test_a_family_of_four_has_a_colour(self):
        self.assertEqual(list(write_embedding.families_of(EVIDENCE["map"])), ["N"])

    def test_times_stand_in_tables(self):
        text = embedding_sections.times_sections(TIMES)
        self.assertIn("| embedding and counts, plain | 15.0 % | 10.0 % | 90.0 % |", text)
        self.assertIn("0.50 of that of boosted trees", text)
        self.assertIn("| svr | 15.0 % | 8.0 % |", text)
        self.assertIn("| Ernest refitted with 3 runs | 9 of 2 | 24.0 % | 15.0 % | 8.0 % | 3.0 | 60 s |", text)
        self.assertIn("no workload has more runs", text)
        self.assertIn("| not trained | 40.0 % | 15.0 % | 8.0 % |", text)
        self.assertIn("<polyline", embedding_sections.draw_curve(TIMES["timm"]["curve"]))

    def test_the_page_keeps_its_words_and_changes_its_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            (docs / "embedding.md").write_text(
                f"before\n{write_embedding.START}\nyesterday\n{write_embedding.END}\nbetween\n"
                f"{write_embedding.TIMES}\nyesterday\n{write_embedding.END}\nafter\n")
            (docs / "evidence.json").write_text(json.dumps(EVIDENCE))
            (docs / "times.json").write_text(json.dumps(TIMES))
            for _ in range(2):  # the second call finds what the first wrote
                command = [sys.executable, "-B", write_embedding.__file__, docs, "--evidence", docs / "evidence.json",
                           "--times", docs / "times.json"]
                subprocess.run(command, check=True)
            page = (docs / "embedding.md").read_text()
            self.assertTrue(page.startswith("before\n") and page.endswith("\nafter\n"))
            self.assertNotIn("yesterday", page)
            self.assertEqual(page.count("## Speed\n"), 1)
            self.assertIn("\nbetween\n", page)
            self.assertEqual(page.count("## Times of networks never run"), 1)
            self.assertIn("75.0 %", page)
            self.assertIn("a&lt;b", (docs / "embedding_map.svg").read_text())


if __name__ == "__main__":
    unittest.main()

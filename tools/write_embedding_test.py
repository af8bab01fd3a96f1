# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

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


class WriteEmbedding(unittest.TestCase):
    def test_means_are_over_seeds(self):
        table = write_embedding.compare_table(EVIDENCE["compare"])
        # Means of the seeds are 50 % and 70 %: 60 %, their deviation 14.1 %.
        self.assertIn("| 60.0 % ± 14.1 |", table)
        self.assertIn("| 30.0 % | 30.0 % | 1 |", table)

    def test_a_family_of_four_has_a_colour(self):
        self.assertEqual(list(write_embedding.families_of(EVIDENCE["map"])), ["N"])

    def test_the_page_keeps_its_words_and_changes_its_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            (docs / "embedding.md").write_text(
                f"before\n{write_embedding.START}\nyesterday\n{write_embedding.END}\nafter\n")
            (docs / "evidence.json").write_text(json.dumps(EVIDENCE))
            for _ in range(2):  # the second call finds what the first wrote
                command = [sys.executable, "-B", write_embedding.__file__, docs / "evidence.json", docs]
                subprocess.run(command, check=True)
            page = (docs / "embedding.md").read_text()
            self.assertTrue(page.startswith("before\n") and page.endswith("\nafter\n"))
            self.assertNotIn("yesterday", page)
            self.assertEqual(page.count("## Speed"), 1)
            self.assertIn("75.0 %", page)
            self.assertIn("a&lt;b", (docs / "embedding_map.svg").read_text())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests of what kill_writers.py looks at, with a writer that is a shell command."""
import pathlib
import random
import tempfile
import unittest

import kill_writers


def shell_writer(script: str) -> kill_writers.Writer:
    return kill_writers.Writer(
        "shell",
        lambda to: (to / "file").write_text("old\n", encoding="utf-8"),
        lambda to: ["sh", "-c", script, "sh", to / "file"],
        lambda at: (at / "file").read_text(encoding="utf-8"),
    )


class KillWriters(unittest.TestCase):
    def trial(self, script: str) -> kill_writers.Trial:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return kill_writers.Trial(shell_writer(script), pathlib.Path(folder.name), random.Random(1))

    def test_a_file_that_is_renamed_into_place_stays_whole(self):
        trial = self.trial('printf new > "$1.part"; printf er >> "$1.part"; mv "$1.part" "$1"')
        self.assertEqual([trial.kill() for _ in range(5)], [""] * 5)

    def test_a_file_that_is_written_in_place_does_not(self):
        trial = self.trial('printf n > "$1"; sleep 0.2; printf ew > "$1"')
        problems = {trial.kill() for _ in range(5)}
        self.assertIn("what is there is neither the earlier nor the new", problems)

    def test_success_without_a_new_file_is_a_problem(self):
        trial = self.trial('printf new > "$1"')
        trial.reset()
        self.assertIn("nothing new", trial.problem(0))
        self.assertEqual(trial.problem(1), "")

    def test_training_rows_fit_their_columns(self):
        header, *lines = kill_writers.training(3).splitlines()
        self.assertEqual({line.count(",") for line in lines}, {header.count(",")})
        self.assertEqual(len(lines), 3)


if __name__ == "__main__":
    unittest.main()

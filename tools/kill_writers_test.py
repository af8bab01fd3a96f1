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

    def test_a_kill_amid_the_writing_finds_half_a_file(self):
        trial = self.trial('sleep 0.05; printf n > "$1"; sleep 0.05; printf ew > "$1"')
        self.assertIn("neither", trial.kill(amid=True))
        self.assertEqual(trial.counts["amid"], 1)

    def test_a_next_run_that_fails_is_a_problem(self):
        trial = self.trial('test ! -e "$1.lock" || exit 1; : > "$1.lock"; sleep 0.05; printf new > "$1"; rm "$1.lock"')
        problems = {trial.kill(amid=True) for _ in range(60)}
        self.assertTrue(any("the next run fails" in problem for problem in problems), problems)

    def test_a_history_is_whole_by_its_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "h.csv"
            file.write_text(kill_writers.HISTORY, encoding="utf-8")
            self.assertEqual(kill_writers.runs_of(file), "earlier")
            file.write_text(kill_writers.HISTORY + "7,0.7,0.1,0.7,0.3\n", encoding="utf-8")
            self.assertEqual(kill_writers.runs_of(file), "new")
            for damaged in (kill_writers.HISTORY[:-1], kill_writers.HISTORY[:60] + "\n", ""):
                file.write_text(damaged, encoding="utf-8")
                with self.assertRaises(ValueError):
                    kill_writers.runs_of(file)

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

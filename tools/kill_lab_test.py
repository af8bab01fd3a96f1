# SPDX-License-Identifier: Apache-2.0
"""Tests of what kill_lab.py looks at; the lab itself is not started."""
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import kill_lab
import lab_remains


class KillLab(unittest.TestCase):
    def test_processes_are_found_by_their_environment(self):
        mark = f"FORETRAIN_MARK={os.getpid()}"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(["cat"], env=os.environ | dict([mark.split("=")]), **pipes) as child:
            try:
                child.stdin.write(b"x")
                child.stdin.flush()
                child.stdout.read(1)  # it runs: a process that only begins shows no environment yet
                self.assertIn(child.pid, lab_remains.processes(mark))
                self.assertEqual(lab_remains.processes(mark + "0"), {})
                self.assertEqual(lab_remains.parent(child.pid), os.getpid())
                self.assertEqual(lab_remains.namespaces(child.pid), lab_remains.namespaces("self"))
            finally:
                child.kill()
        self.assertEqual(lab_remains.processes(mark), {})

    def test_own_namespaces_live(self):
        own = lab_remains.namespaces("self")
        self.assertEqual(len(own), 3)
        self.assertLessEqual(own, lab_remains.living_namespaces())

    def test_a_measurement_counts_with_all_that_belongs_to_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.db"
            self.assertEqual(kill_lab.stored(path), set())
            database = sqlite3.connect(path)
            self.assertEqual(kill_lab.stored(path), set())  # no table yet
            database.executescript(
                "CREATE TABLE runs(id, configuration, repeat, step_median_s, status);"
                "CREATE TABLE metrics(run); CREATE TABLE steps(run, times_s);"
                "INSERT INTO runs VALUES (1, 'a', 0, 0.5, 'ok'), (2, 'a', 1, NULL, 'failed');"
                "INSERT INTO metrics VALUES (1), (1); INSERT INTO steps VALUES (1, x'00000000');"
            )
            database.close()
            self.assertEqual(kill_lab.stored(path), {("a", 0, 0.5, 2, 4)})


if __name__ == "__main__":
    unittest.main()

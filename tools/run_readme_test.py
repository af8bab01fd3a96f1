# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import pathlib
import tempfile
import unittest

import run_readme

# Stands for foretrain: `foretrain good` ends well, and fails where an earlier command did not
# leave its file; anything else ends with 3.
PROGRAM = '#!/bin/sh\ncase "$1" in good) touch made ;; after) test -e made ;; *) echo no >&2; exit 3 ;; esac\n'


class RunReadme(unittest.TestCase):
    def result(self, readme: str) -> tuple[bool, str]:
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            program = pathlib.Path(folder, "program")
            program.write_text(PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            return run_readme.run_all(readme, program), printed.getvalue()

    def test_finds_the_commands(self):
        readme = "$ outside\n```sh\n$ make demo\noutput $ x\n$ foretrain a \\\n    --b\n```\n```json\n$ no\n```\n"
        self.assertEqual(run_readme.commands(readme), ["make demo", "foretrain a --b"])

    def test_runs_commands_in_one_folder(self):
        good, _ = self.result("```sh\n$ foretrain good\nsome output\n$ foretrain after | cat\n```\n")
        self.assertTrue(good)

    def test_fails_where_a_command_fails(self):
        good, printed = self.result("```sh\n$ foretrain good\n$ foretrain bad\n```\n")
        self.assertFalse(good)
        self.assertIn("FAILED  foretrain bad\n        exit code 3: no", printed)

    def test_fails_where_a_command_before_a_pipe_fails(self):
        self.assertFalse(self.result("```sh\n$ foretrain bad | cat\n```\n")[0])

    def test_names_what_it_skips(self):
        self.assertIn("skipped make demo", self.result("```sh\n$ make demo\n$ foretrain good\n```\n")[1])

    def test_fails_where_there_is_nothing_to_run(self):
        self.assertFalse(self.result("```sh\n$ make demo\n```\n")[0])


if __name__ == "__main__":
    unittest.main()

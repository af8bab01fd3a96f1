# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import check_install


class CheckInstall(unittest.TestCase):
    def test_tells_headers_of_other_packages_apart(self):
        listed = "x.o: x.cc /usr/include/c++/12/vector \\\n /usr/include/nlohmann/json.hpp prefix/include/foretrain/a/b.h\n"
        self.assertEqual(check_install.third_party(listed), ["/usr/include/nlohmann/json.hpp"])

    def test_the_compiler_is_that_of_the_build(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = pathlib.Path(folder, "CMakeCache.txt")
            cache.write_text("A:STRING=1\nCMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n", encoding="utf-8")
            self.assertEqual(check_install.compiler_of(pathlib.Path(folder)), "/usr/bin/c++")

    def test_a_command_that_fails_is_told_with_its_output(self):
        with self.assertRaisesRegex(check_install.Failed, "false.*\n.*why"):
            check_install.run("sh", "-c", "echo why; false")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import check_layers

SPDX = check_layers.SPDX + "\n"
HEADER = SPDX + "#pragma once\n"
LIST = "foretrain_module(base)\nforetrain_module(graph)\nforetrain_module(hw)\n"
USES = "foretrain_module(base)\nforetrain_module(graph USES base LINKS z)\nforetrain_module(hw\n  TESTS_USE base)\n"


class CheckLayers(unittest.TestCase):
    def findings(self, files: dict[str, str], cmake: str = LIST) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"CMakeLists.txt": cmake, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            return check_layers.check(root)

    def assert_finds(self, part: str, files: dict[str, str], cmake: str = LIST) -> None:
        found = self.findings(files, cmake)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_reads_the_list(self):
        expected = {"base": ([], []), "graph": (["base"], []), "hw": ([], ["base"])}
        self.assertEqual(check_layers.declared_modules(USES + "# foretrain_module(old)\n"), expected)

    def test_accepts_what_is_right(self):
        self.assertEqual(self.findings({
            "foretrain/graph/a.h": HEADER + '#include <vector>\n#include "foretrain/base/b.h"\n',
            "foretrain/graph/a.cc": SPDX + '#include "foretrain/base/json.h"\n#include <CLI/CLI.hpp>\n',
            "foretrain/base/json.h": SPDX + "// A reason.\n#pragma once\n#include <nlohmann/json.hpp>\n",
            "foretrain/hw/a.cc": SPDX + '#include "foretrain/hw/a/b.h"\n#include "foretrain/hw/detail/a.h"\n',
            "foretrain/hw/a_test.cc": SPDX + '#include "foretrain/base/b.h"\n',
            "foretrain/cli/main.cc": SPDX + '#include "foretrain/graph/a.h"\n',
            "bench/speed.cc": SPDX + '#include "foretrain/cli/x.h"\n',
        }, USES), [])

    def test_finds_an_include_outside_uses(self):
        self.assert_finds("graph does not use hw",
                          {"foretrain/graph/a.cc": SPDX + '#include "foretrain/hw/b.h"\n'})

    def test_finds_a_stray_include_in_a_test(self):
        self.assert_finds("a_test.cc:2", {"foretrain/base/a_test.cc": SPDX + '# include "foretrain/hw/b.h"\n'})

    def test_finds_the_use_of_an_adapter(self):
        self.assert_finds("nothing may use cli", {"foretrain/hw/a.cc": SPDX + '#include "foretrain/cli/b.h"\n'})
        self.assert_finds("adapter", {}, "foretrain_module(base USES cli)\n")

    def test_finds_a_cycle_of_modules(self):
        self.assert_finds("cycle", {"foretrain/a/x.cc": SPDX + '#include "foretrain/b/x.h"\n',
                                    "foretrain/b/x.cc": SPDX + '#include "foretrain/a/x.h"\n'},
                          "foretrain_module(a USES b)\nforetrain_module(b USES a)\n")

    def test_finds_a_cycle_of_files(self):
        def including(*names: str) -> str:
            return "".join(f'#include "foretrain/base/{name}"\n' for name in names)

        straight = {
            "foretrain/base/a.h": HEADER + including("detail/b.h"),
            "foretrain/base/a.cc": SPDX + including("a.h", "deep/b.h"),  # another file than b
            "foretrain/base/deep/b.h": HEADER,
            "foretrain/base/b_test.cc": SPDX + including("a.h", "detail/b.h"),
            "foretrain/cli/main.cc": SPDX + including("a.h"),
        }
        self.assertEqual(self.findings(straight | {"foretrain/base/b.cc": SPDX + including("detail/b.h")}), [])
        # A header and its source are one: a.h includes b.h, whose source includes a.h.
        self.assert_finds("foretrain/base/a <-> foretrain/base/b: include each other",
                          straight | {"foretrain/base/b.cc": SPDX + including("detail/b.h", "a.h")})
        # Around a third, which is named too; what only leads into the circle is not.
        self.assert_finds("foretrain/base/a <-> foretrain/base/b <-> foretrain/base/c: include each other",
                          straight | {"foretrain/base/b.cc": SPDX + including("c.h"),
                                      "foretrain/base/c.h": HEADER + including("a.h"),
                                      "foretrain/base/d.cc": SPDX + including("a.h")})

    def test_finds_two_cycles_apart(self):
        files = {f"foretrain/base/{file}.h": HEADER + f'#include "foretrain/base/{included}.h"\n'
                 for file, included in ("ab", "ba", "cd", "dc")}
        self.assertEqual(len(self.findings(files)), 2)

    def test_finds_an_internal_header_used_by_another_module(self):
        for header in ("detail/a.h", "deep/a.h"):
            include = SPDX + f'#include "foretrain/hw/{header}"\n'
            for file in ("foretrain/hw/a.cc", "foretrain/hw/a_test.cc", "foretrain/hw/deep/b.cc", "fuzz/a_fuzz.cc"):
                self.assertEqual(self.findings({file: include}), [])
            for file in ("foretrain/cli/a.cc", "bench/a.cc", "python/a.cc"):
                self.assert_finds(f"{file}:2: includes foretrain/hw/{header}, which is internal to hw", {file: include})

    def test_finds_a_declared_use_that_is_none(self):
        use = SPDX + '#include "foretrain/base/b.h"\n'
        cmake = "foretrain_module(base)\nforetrain_module(hw USES base)\n"
        self.assertEqual(self.findings({"foretrain/hw/a.h": use + "#pragma once\n"}, cmake), [])
        self.assert_finds("hw declares base, but does not include it", {"foretrain/hw/a.cc": SPDX}, cmake)
        self.assert_finds("only its tests do: move it to TESTS_USE", {"foretrain/hw/a_test.cc": use}, cmake)

    def test_finds_wrong_uses_of_tests(self):
        use = SPDX + '#include "foretrain/base/b.h"\n'
        cmake = "foretrain_module(base)\nforetrain_module(hw TESTS_USE base)\n"
        self.assertEqual(self.findings({"foretrain/hw/a_test.cc": use}, cmake), [])
        self.assert_finds("for its tests, which do not include it", {"foretrain/hw/a_test.cc": SPDX}, cmake)
        self.assert_finds("hw does not use base", {"foretrain/hw/a_test.cc": use, "foretrain/hw/a.cc": use}, cmake)
        twice = "foretrain_module(base)\nforetrain_module(hw USES base TESTS_USE base)\n"
        self.assert_finds("remove the second", {"foretrain/hw/a_test.cc": use, "foretrain/hw/a.cc": use}, twice)

    def test_finds_an_undeclared_module(self):
        self.assert_finds("not declared", {}, "foretrain_module(a USES nobody)\n")
        self.assert_finds("not declared", {"foretrain/extra/a.cc": SPDX})

    def test_finds_an_empty_list(self):
        self.assert_finds("no foretrain_module", {}, "project(x)\n")

    def test_finds_third_party_headers_in_a_header(self):
        for header in ("nlohmann/json.hpp", "CLI/CLI.hpp", "gtest/gtest.h", "unistd.h"):
            self.assert_finds(header, {"foretrain/hw/a.h": HEADER + f"#include <{header}>\n"})

    def test_a_header_for_tests_may_use_their_framework_and_is_for_tests_only(self):
        test_header = {"foretrain/hw/test_a.h": HEADER + "#include <gtest/gtest.h>\n"}
        include = SPDX + '#include "foretrain/hw/test_a.h"\n'
        self.assertEqual(self.findings(test_header | {"foretrain/hw/a_test.cc": include}), [])
        shared_source = {"foretrain/hw/test_a.cc": include + "#include <gtest/gtest.h>\n"}
        self.assertEqual(self.findings(test_header | shared_source), [])
        self.assert_finds("for tests", test_header | {"foretrain/hw/a.cc": include})
        self.assert_finds("for tests", test_header | {"foretrain/cli/a.cc": include})

    def test_finds_a_test_that_is_not_named_as_one(self):
        for name in ("test.cc", "a_test_file.cc", "tests.cc"):
            self.assert_finds(f"{name}:2: includes <gtest/gtest.h>, but is named neither *_test.cc nor test_*",
                              {f"foretrain/hw/{name}": SPDX + "#include <gtest/gtest.h>\n"})

    def test_finds_a_header_that_serves_tests_alone(self):
        include = SPDX + '#include "foretrain/hw/detail/fake.h"\n'
        files = {"foretrain/hw/detail/fake.h": HEADER, "foretrain/hw/fake.cc": include}
        self.assertEqual(self.findings(files), [])
        self.assert_finds("foretrain/hw/detail/fake.h: only tests include it", files | {
            "foretrain/hw/a_test.cc": include})
        self.assertEqual(self.findings(files | {"foretrain/hw/a_test.cc": include, "foretrain/hw/a.cc": include}), [])

    def test_finds_the_json_header_in_a_header(self):
        self.assert_finds("for .cc files", {"foretrain/hw/a.h": HEADER + '#include "foretrain/base/json.h"\n'},
                          "foretrain_module(base)\nforetrain_module(hw USES base)\n")

    def test_finds_an_include_that_does_not_start_at_the_root(self):
        self.assert_finds("path from the root", {"foretrain/hw/a.cc": SPDX + '#include "b.h"\n'})

    def test_finds_missing_first_lines(self):
        self.assert_finds("a.cc:1", {"foretrain/hw/a.cc": "int x;\n"})
        self.assert_finds("a.cc:1", {"foretrain/hw/a.cc": ""})
        self.assert_finds("#pragma once", {"foretrain/hw/a.h": SPDX})

    def test_finds_long_files(self):
        self.assertEqual(self.findings({"foretrain/hw/a.cc": SPDX + "\n" * 598}), [])
        self.assert_finds("600 lines", {"foretrain/hw/a.cc": SPDX + "\n" * 599})


if __name__ == "__main__":
    unittest.main()

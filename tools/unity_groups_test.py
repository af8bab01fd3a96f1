# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cmake"))
import unity_groups  # noqa: E402


def groups(*texts: str, lines: int = 100) -> list[int]:
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, f"{number}.cc") for number in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_text(text, encoding="utf-8")
        return unity_groups.groups_of(files, lines)


def unnamed(text: str) -> str:
    return "namespace x {\nnamespace {\n" + text + "\n}  // namespace\n}\n"


class UnityGroups(unittest.TestCase):
    def test_files_without_common_names_are_one(self):
        self.assertEqual(groups(unnamed("int f() { return 1; }"), unnamed("int g() { int f = 2; return f; }")), [0, 0])

    def test_a_name_defined_twice_parts_them(self):
        for text in ("int f(int a) { return a; }", "struct f {};", "constexpr int f = 3;", "const int f[] = {1, 2};"):
            self.assertEqual(groups(unnamed("void f() {}"), unnamed(text)), [0, 1], text)

    def test_the_same_alias_is_no_second_definition_and_another_is(self):
        self.assertEqual(groups(unnamed("using graph::Node;"), unnamed("using graph::Node;")), [0, 0])
        self.assertEqual(groups(unnamed("using graph::Node;"), unnamed("using learn::Node;")), [0, 1])

    def test_constants_inside_of_functions_would_hide_others(self):
        self.assertEqual(groups(unnamed("constexpr int kEnd = 1;"), "int f() { constexpr int kEnd = 2; return kEnd; }"), [0, 1])

    def test_what_one_defines_and_another_has_from_elsewhere_parts_them(self):
        system = "void tell() { if (write(1, 0, 0) < 0) return; }"
        self.assertEqual(groups(unnamed("void write(int a) {}"), system), [0, 1])
        self.assertEqual(groups(system, unnamed("void write(int a) {}")), [0, 1])
        self.assertEqual(groups(unnamed("void write(int a) {}"), "void tell() { ::write(1, 0, 0); }"), [0, 0])
        self.assertEqual(groups(unnamed("using Rows = int;"), "struct Rows { int a; };"), [0, 1])

    def test_braces_in_literals_and_comments_do_not_count(self):
        self.assertEqual(groups(unnamed('auto a = "}{"; // }\nchar b = \'}\'; void f() {}'), unnamed("void f() {}")), [0, 1])

    def test_tests_are_no_definitions_and_macros_are(self):
        self.assertEqual(groups(unnamed("TEST(A, B) {}"), unnamed("TEST(A, C) {}")), [0, 0])
        self.assertEqual(groups("#define X 1\n", "#define X 2\n"), [0, 1])

    def test_a_group_has_so_many_lines(self):
        self.assertEqual(groups("\n" * 60, "\n" * 50, "\n" * 40), [0, 1, 0])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import unittest

import wrap_docs

LONG = " ".join(["word"] * 30)  # 30 words of 4 letters: 149 columns; 24 of them, 119, fit on a line


class WrapDocs(unittest.TestCase):
    def test_wraps_a_paragraph(self):
        self.assertEqual(wrap_docs.wrap(f"{LONG}\nend\n"),
                         " ".join(["word"] * 24) + "\n" + " ".join(["word"] * 6) + " end\n")

    def test_an_item_keeps_its_indent_and_its_neighbours(self):
        # Two columns are taken: 23 words and 22 blanks are 114 columns, a 24th would make 121.
        self.assertEqual(wrap_docs.wrap(f"- a\n  b\n- {LONG}\n- c"),
                         "- a\n  b\n- " + " ".join(["word"] * 23) + "\n  " + " ".join(["word"] * 7) + "\n- c")

    def test_a_long_cell_goes_below_its_table(self):
        # 24 words of 5 columns are 119; "- b: " takes five, so that 23 of them fit.
        text = f"| x | y |\n|---|---|\n| a | c |\n| b | {LONG} |\n| d | e |\n\nend"
        self.assertEqual(wrap_docs.wrap(text),
                         "| x | y |\n|---|---|\n| a | c |\n| b | see below |\n| d | e |\n\n- b: "
                         + " ".join(["word"] * 23) + "\n  " + " ".join(["word"] * 7) + "\n\nend")

    def test_a_table_of_long_rows_becomes_a_list(self):
        text = f"| x | y | z |\n|---|---|---|\n| a | c |  |\n| b | {LONG} | d |"
        self.assertEqual(wrap_docs.wrap(text), "- a: c\n- b: " + " ".join(["word"] * 23) + "\n  "
                         + " ".join(["word"] * 7) + "; d")

    def test_a_table_with_a_long_head_becomes_a_list(self):
        head = "x" * 115
        self.assertEqual(wrap_docs.wrap(f"| x | y |\n|---|---|\n| a | b |\n| {head} | c |\n| d | e |"),
                         f"- a: b\n- {head}: c\n- d: e")

    def test_short_paragraphs_tables_and_code_stay(self):
        text = f"a\nb\n\n| x |\n|---|\n| y |\n\n```\n{LONG}\n```\n\n    {LONG}\n"
        self.assertEqual(wrap_docs.wrap(text), text)

    def test_code_links_and_what_precedes_a_sign_are_not_broken(self):
        for unit in ("`a b c d`", "[a b c](d e)", "(`a b`,", "abc + d", "1234 %", "abc - 12. d"):
            wrapped = wrap_docs.wrap("x" * 115 + " " + unit + " y")
            self.assertEqual(wrapped, "x" * 115 + "\n" + unit + " y")

    def test_twice_is_once(self):
        once = wrap_docs.wrap(f"# {LONG}\n{LONG}\n* {LONG}\n  more\n\n|x|y|\n|---|---|\n|a|{LONG}|\n|b|c|\n|d|e|\n")
        self.assertEqual(wrap_docs.wrap(once), once)


if __name__ == "__main__":
    unittest.main()

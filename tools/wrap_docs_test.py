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

    def test_short_paragraphs_tables_and_code_stay(self):
        text = f"a\nb\n\n| {LONG} |\n\n```\n{LONG}\n```\n\n    {LONG}\n"
        self.assertEqual(wrap_docs.wrap(text), text)

    def test_code_links_and_what_precedes_a_sign_are_not_broken(self):
        for unit in ("`a b c d`", "[a b c](d e)", "(`a b`,", "abc + d", "1234 %", "abc - 12. d"):
            wrapped = wrap_docs.wrap("x" * 115 + " " + unit + " y")
            self.assertEqual(wrapped, "x" * 115 + "\n" + unit + " y")

    def test_twice_is_once(self):
        once = wrap_docs.wrap(f"# {LONG}\n{LONG}\n* {LONG}\n  more\n")
        self.assertEqual(wrap_docs.wrap(once), once)


if __name__ == "__main__":
    unittest.main()

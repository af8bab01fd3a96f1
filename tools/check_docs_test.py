# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import check_docs

PAGE = {"docs/architecture.md": "foretrain/base/: small pieces\n"}


class CheckDocs(unittest.TestCase):
    def findings(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            return check_docs.check(root)

    def assert_finds(self, part: str, files: dict[str, str]) -> None:
        found = self.findings(files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_accepts_what_is_right(self):
        self.assertEqual(self.findings({
            **PAGE,
            "foretrain/base/a.h": "",
            "README.md": "[a](docs/architecture.md#flow) [b](https://example.org/x) [c](#here) [d](docs)\n"
                         "```sh\n[x](nowhere.md)\n```\n",
            "notes.txt": "a/home/b, docs/work/x and http://example.org/root/x are no places on a machine\n",
        }), [])

    def test_finds_a_folder_that_is_not_named(self):
        self.assert_finds("foretrain/graph/", {**PAGE, "foretrain/base/a.h": "", "foretrain/graph/a.h": ""})

    def test_finds_a_missing_page(self):
        self.assert_finds("missing", {"foretrain/base/a.h": ""})

    def test_finds_a_link_that_leads_nowhere(self):
        self.assert_finds("README.md:3: the link gone.md", {**PAGE, "README.md": "```\nx\n``` [a](gone.md)\n"})
        self.assert_finds("the link gone.md", {**PAGE, "README.md": "[a]: gone.md\n"})

    def test_finds_a_path_that_is_not_there(self):
        files = {**PAGE, "foretrain/base/a.h": "", "data/x/b.json": ""}
        there = ("foretrain/base/a.h", "base/a.h", "data/x/", "data/x", "data/*/b.json")
        elsewhere = ("build/release/foretrain", "data/x/NAME.json", "torch/optim", "traces/a.csv")
        text = "\n".join(f"`{path}`" for path in there + elsewhere)
        self.assertEqual(self.findings({**files, "README.md": text + "\n```\n`base/gone.h`\n```\n"}), [])
        for path in ("foretrain/base/b.h", "foretrain/gone/", "base/b.h", "gone/a.cc", "data/x/c.json", "data/*/c.json"):
            self.assert_finds(f"README.md:2: there is no {path}", {**files, "README.md": f"\nsee `{path}`\n"})

    def test_finds_a_page_that_a_comment_names(self):
        gone = "docs" + "/gone.md"
        self.assertEqual(self.findings({**PAGE, "a.h": "// docs/architecture.md, x/" + gone + "\n"}), [])
        self.assert_finds(f"a.h:2: there is no {gone}", {**PAGE, "a.h": f"\n// Source: {gone}.\n"})

    def test_finds_long_lines(self):
        self.assertEqual(self.findings({**PAGE, "README.md": "ä" * 120 + "\n"}), [])
        self.assert_finds("README.md:1: 121 columns", {**PAGE, "README.md": "| " + "x" * 117 + " |\n"})
        self.assert_finds("README.md:2: 121 columns", {**PAGE, "README.md": "\n" + "x" * 121 + "\n"})

    def test_finds_places_on_a_machine(self):
        for top in ("home", "root", "Users", "work"):
            place = "/" + top + "/anna/x.json"
            for text in (place, f'path = "{place}"', f"see {place}.", f"(cd {place})", f"A={place}"):
                self.assert_finds("place on a machine", {**PAGE, "a.txt": text})


if __name__ == "__main__":
    unittest.main()

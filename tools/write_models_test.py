# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import tempfile
import unittest

import write_models

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = """
// Shares of the peak.
struct CapConstants {
  double plain = 0;  // of a GEMM | any
  // Of convolutions,
  // the large ones.
  double conv =
      0;
  std::array<double, 2> tiles{};  // of 64 and
                                  // of 32
};

// [us] Host time.
struct HostConstants {
  double view = 0;   // a view
  double share = 0;  // [-] of it that is lost
};

struct Constants {
  CapConstants cap;
  HostConstants host;
  double recurrent_step = 0;  // [s] of a time step
  double shared_node_slowdown = 0;  // by each other device
};
"""
FILE = {
    "format": "x", "version": 1, "notes": [],
    "cap": {"plain": 0.5, "conv": 1, "tiles": [0.25, 1]},
    "host": {"view": 4, "share": 0.5},
    "recurrent": {"step": 2e-05},
    "node": {"shared_slowdown": {"value": 0.03, "source": "a fit"}},
    "links": {"a": {"kind": "tcp", "source": "s"}, "b": {"kind": "tcp", "source": "s"},
              "c": {"kind": "rdma", "switched": True, "of": {"peers": 3, "bus": False}}},
}


def page(*blocks: str) -> str:
    return "".join(f"<!-- {block} -->\n<!-- end -->\n" for block in blocks)


GROUPS = [group for group in FILE if group not in write_models.HEAD]
TABLES = page(*(f"constants: numbers {group}" for group in GROUPS))


class WriteModels(unittest.TestCase):
    def setUp(self):
        self.headers = write_models.HEADERS
        write_models.HEADERS = {"numbers": ("foretrain/x.h", "Constants")}
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("foretrain/x.h", HEADER)
        self.write("data/predictors/numbers.json", json.dumps(FILE))
        self.write("docs/models/README.md", "[a](a.md)\n")

    def tearDown(self):
        write_models.HEADERS = self.headers
        self.folder.cleanup()

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def table(self, block: str) -> list[str]:
        text = write_models.filled(page(block), write_models.Repository(self.root))
        return [line for line in text.splitlines() if line and not line.startswith("<!--")]

    def test_comments_above_beside_and_continued_become_meanings(self):
        self.assertEqual(self.table("constants: numbers cap"), [
            "Shares of the peak.",
            "| constant | value | meaning |",
            "|---|---|---|",
            "| `cap.plain` | 0.5 | of a GEMM \\| any |",
            "| `cap.conv` | 1 | Of convolutions, the large ones. |",
            "| `cap.tiles` | 0.25, 1 | of 64 and of 32 |",
        ])

    def test_a_unit_is_the_structs_unless_the_field_has_one(self):
        self.assertEqual(self.table("constants: numbers host")[3:],
                         ["| `host.view` | 4 µs | a view |", "| `host.share` | 0.5 | of it that is lost |"])

    def test_a_field_of_the_root_is_found_by_the_words_of_group_and_key(self):
        self.assertEqual(self.table("constants: numbers recurrent")[2:],
                         ["| `recurrent.step` | 20 µs | of a time step |"])
        self.assertEqual(self.table("constants: numbers node")[2:],
                         ["| `node.shared_slowdown` | 0.03 | by each other device |", "*Sources.*",
                          "- `node.shared_slowdown`: a fit"])

    def test_equal_entries_share_an_item(self):
        self.assertEqual(self.table("constants: numbers links"),
                         ["- `a`, `b`: kind tcp. *Source:* s", "- `c`: kind rdma, switched, of.peers 3, of.bus no"])

    def test_fields_of_a_struct_have_their_defaults(self):
        self.assertEqual(self.table("fields: numbers HostConstants")[2], "| `view` | `0` | a view |")

    def test_seconds_and_bytes_read_well(self):
        self.assertEqual(write_models.scaled(6.267e-12, "s per byte"), "6.267 ps per byte")
        self.assertEqual(write_models.scaled(0.005, "s"), "5 ms")
        self.assertEqual(write_models.scaled(26214400, "B"), "25 MiB")
        self.assertEqual(write_models.scaled(1.4e9, "B"), "1.4 GB")

    def test_writing_twice_changes_nothing(self):
        repository = write_models.Repository(self.root)
        once = write_models.filled(TABLES, repository)
        self.assertEqual(write_models.filled(once, repository), once)

    def findings(self, text: str) -> list[str]:
        self.write(f"{write_models.PAGES}/a.md", text)
        return write_models.findings_of(self.root)

    def test_a_page_as_written_has_no_findings(self):
        self.assertEqual(self.findings(write_models.filled(TABLES, write_models.Repository(self.root))), [])

    def test_finds_what_differs(self):
        good = write_models.filled(TABLES, write_models.Repository(self.root))
        for text, what in ((good.replace("20 µs", "30 µs"), "not what the files in use say"),
                           (good + "`cap.gone`", "no constant cap.gone"),
                           (good + "```text\nt = 2 * cap.lost / b\n```\n", "no constant cap.lost"),
                           (good + page("constants: numbers gone"), "no group gone"),
                           (good + page("constants: others cap"), "no file others"),
                           (good.replace("constants: numbers host", "x"), "no page has a table of numbers host")):
            self.assertIn(what, " ".join(self.findings(text)))

    def test_finds_a_constant_that_nothing_explains(self):
        self.write("foretrain/x.h", HEADER.replace("  // a view", ""))
        self.assertIn("says what host.view is", " ".join(self.findings(TABLES)))

    def test_finds_a_page_that_the_index_leaves_out(self):
        self.write(f"{write_models.PAGES}/b.md", "text\n")
        self.assertIn("does not list b.md", " ".join(self.findings(TABLES)))


class ThePages(unittest.TestCase):
    def test_are_what_the_files_in_use_say(self):
        self.assertEqual(write_models.findings_of(ROOT), [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cmake"))
import embed  # noqa: E402


class Embed(unittest.TestCase):
    def test_literal_keeps_every_byte(self):
        # An octal escape has three digits, so the digit behind it stays itself.
        self.assertEqual(embed.literal(b'a"\\\n\x001\xc3?'), '{"a\\"\\\\\\n\\0001\\303\\?", 8}')

    def test_files_are_sorted_and_named_from_the_data_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            (data / "x").mkdir()
            for name in ("x/b.json", "x/a.json"):
                (data / name).write_text("{}", encoding="utf-8")
            code = embed.generate("foretrain::hw::kFiles", data, [data / "x/b.json", data / "x/a.json"])
        self.assertLess(code.index('"x/a.json"'), code.index('"x/b.json"'))
        self.assertIn("namespace foretrain::hw {", code)
        self.assertIn("constinit const std::span<const EmbeddedFile> kFiles{kTable};", code)
        self.assertNotIn(folder, code)

    def test_no_files_make_an_empty_list(self):
        self.assertIn("kFiles{};", embed.generate("kFiles", pathlib.Path("."), []))


if __name__ == "__main__":
    unittest.main()

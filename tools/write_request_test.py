# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import write_request  # noqa: E402

TABLE = [
    {"name": "model", "type": "text", "group": "Model", "help": "a name"},
    {"name": "mode", "type": "text", "group": "Training", "help": "a | b", "default": "train",
     "words": ["train", "inference"]},
    {"name": "speed", "type": "number", "group": "Training", "help": "of it", "least": 0, "most": 1e18,
     "above": True},
    {"name": "strategy", "type": "object", "group": "Strategy", "help": "how", "fields": [
        {"name": "servers", "type": "integer", "group": "Strategy", "help": "many", "default": "1",
         "least": 1, "most": 1024, "above": False}]},
]

# Knows every field of the table but strategy.servers, and one besides.
PROGRAM = """#!{python}
import json, sys
for line in sys.stdin:
    names = set(json.loads(line)) - {{"model", "mode", "speed", "secret"}}
    strategy = json.loads(line).get("strategy", [])
    known = names <= {{"strategy"}} and not isinstance(strategy, dict)
    print(json.dumps({{"error": {{"message": "wrong value" if known else "unknown field"}}}}))
"""


class WriteRequest(unittest.TestCase):
    def test_page_has_a_row_per_field_below_its_group(self):
        page = write_request.docs_page(TABLE)
        self.assertIn("## Training\n\n| field | type | meaning (default) |\n|---|---|---|\n"
                      "| `mode` | `train`, `inference` | a \\| b (train) |\n"
                      "| `speed` | number above 0, at most 1e18 | of it |\n", page)
        self.assertIn("| `strategy.servers` | integer, 1 to 1,024 | many (1) |\n", page)
        self.assertEqual(write_request.docs_names(page), write_request.names_of(TABLE))

    def test_types_are_python_that_names_every_field(self):
        text = write_request.types_file(TABLE)
        classes = {}
        exec(compile(text, "request.py", "exec"), classes)
        self.assertEqual(set(classes["Request"].__annotations__), {"mode", "speed", "strategy"})
        self.assertEqual(set(classes["Strategy"].__annotations__), {"servers"})
        self.assertIn('    mode: Literal["train", "inference"]\n', text)
        self.assertEqual(write_request.types_names(text), write_request.names_of(TABLE))

    def test_a_field_that_only_the_reader_knows_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file, text in ((write_request.DOCS, write_request.docs_page(TABLE)),
                               (write_request.TYPES, write_request.types_file(TABLE)),
                               ("foretrain/request/request_table.cc", ""),
                               ("foretrain/request/read_request.cc", 'find("model"); find("secret"); find("x y");'),
                               ("foretrain/request/request_test.cc", 'find("other")')):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text, encoding="utf-8")
            program = root / "program"
            program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
            program.chmod(0o755)
            found = [line for line in write_request.findings(root, program, TABLE) if "JSON reader" in line]
        self.assertEqual(found, ["secret: the JSON reader has it, the table does not",
                                 "strategy.servers: the JSON reader does not have it"])


if __name__ == "__main__":
    unittest.main()

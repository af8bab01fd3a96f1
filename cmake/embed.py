# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ file that holds data files: embed.py IDENTIFIER DATA_FOLDER OUTPUT FILE..."""
import pathlib
import sys

ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\t"): "\\t", ord("?"): "\\?"}


def literal(data: bytes) -> str:
    """A C++ string literal of these bytes; octal escapes, for they end after three digits."""
    text = "".join(ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in data)
    return f'{{"{text}", {len(data)}}}'


def generate(identifier: str, data_folder: pathlib.Path, files: list[pathlib.Path]) -> str:
    namespace, _, name = identifier.rpartition("::")
    entries = sorted((file.relative_to(data_folder).as_posix(), file) for file in files)
    rows = [f"    {{{literal(key.encode())},\n     {literal(file.read_bytes())}}},\n" for key, file in entries]
    table = f"constexpr EmbeddedFile kTable[] = {{\n{''.join(rows)}}};\n\n" if rows else ""
    return (
        '#include "foretrain/base/embedded.h"\n\n'
        f"namespace {namespace or 'foretrain'} {{\n\n"
        f"namespace {{\n{table}}}  // namespace\n\n"
        f"extern const std::span<const EmbeddedFile> {name};\n"
        f"constinit const std::span<const EmbeddedFile> {name}{{{'kTable' if rows else ''}}};\n\n"
        f"}}  // namespace {namespace or 'foretrain'}\n"
    )


if __name__ == "__main__":
    identifier, data_folder, output, *files = sys.argv[1:]
    code = generate(identifier, pathlib.Path(data_folder), [pathlib.Path(f) for f in files])
    pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(output).write_text(code, encoding="ascii")

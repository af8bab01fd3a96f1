# SPDX-License-Identifier: Apache-2.0
"""Installs a build into an empty folder, builds a user's project against it and runs its program.

    python3 tools/check_install.py --build build/release --program build/release/foretrain

tests/install/ is that project; its report must be that of the command. Besides, every installed header must
compile with the installed ones and the standard library alone.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent / "tests/install"
COMMAND = ["predict", "resnet50", "--device", "v100-sxm2-16gb", "--workers", "8", "--batch", "32", "--json"]
DEVELOPMENT = re.compile(r"/include/(?:nlohmann|CLI|gtest|coin)/")  # packages that a user may lack


class Failed(Exception):
    """What went wrong, for the reader of the test's output."""


def run(*command: str | pathlib.Path, folder: pathlib.Path | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def compiler_of(build: pathlib.Path) -> str:
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE).group(1)


def third_party(dependencies: str) -> list[str]:
    """The headers of other packages among those that a compiler lists with -M."""
    return sorted({word for word in dependencies.split() if DEVELOPMENT.search(word)})


def check_headers(prefix: pathlib.Path, compiler: str) -> int:
    """Compiles a file that includes every installed header; returns how many there are."""
    include = prefix / "include"
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.h"))
    every = prefix / "every_header.cc"
    every.write_text("".join(f'#include "{header}"\n' for header in headers), encoding="utf-8")
    run(compiler, "-std=c++20", "-fsyntax-only", "-I", include, every)
    if strange := third_party(run(compiler, "-std=c++20", "-M", "-I", include, every)):
        raise Failed(f"public headers need those of other packages: {', '.join(strange)}")
    return len(headers)


def check(build: pathlib.Path, program: pathlib.Path, folder: pathlib.Path) -> str:
    prefix, compiler = folder / "prefix", compiler_of(build)
    run("cmake", "--install", build, "--prefix", prefix, "--component", "development")
    headers = check_headers(prefix, compiler)
    run("cmake", "-S", PROJECT, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release")  # fmt: skip
    run("cmake", "--build", folder / "build")
    if run(folder / "build/example") != run(program, *COMMAND):
        raise Failed("the example's report differs from that of the command")
    return f"installed {headers} headers; the example's report is that of the command"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(check(options.build.resolve(), options.program.resolve(), pathlib.Path(folder)))
        except Failed as failure:
            print(f"check_install: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

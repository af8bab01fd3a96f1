// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/spread.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/line_reader.h"

namespace foretrain::cli {
namespace {

// A Python without the package, or one that lacks Ray, is told apart from other mistakes.
constexpr const char* kStart =
    "import sys\n"
    "try:\n"
    "    from foretrain.ray.__main__ import main\n"
    "except ImportError as error:\n"
    "    print(f'foretrain: --on needs the Python package foretrain ({error}): install it by "
    "`pip install .`, or name a Python that has it by FORETRAIN_RAY_PYTHON', file=sys.stderr)\n"
    "    sys.exit(2)\n"
    "sys.exit(main(sys.argv[1:]))\n";

// The arguments of this process without --on and its value.
std::vector<std::string> other_arguments() {
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  bool value = false;
  bool first = true;
  for (std::string word; std::getline(stream, word, '\0');) {
    if (!first && !value && word != "--on" && !word.starts_with("--on=")) words.push_back(word);
    value = !first && !value && word == "--on";
    first = false;
  }
  return words;
}

}  // namespace

void add_spread_options(Command& command, Spread& spread, bool in_pieces) {
  command
      .add_option("--on", spread.on,
                  "spread the work over a Ray cluster, ray://host:10001 or host:6379, or over a "
                  "Ray of this machine, local; see docs/ray.md")
      .type_name("ADDRESS");
  if (!in_pieces) return;
  command.add_option("--work", spread.work, "a part of what --on does; see docs/ray.md")
      .one_of({"list", "do", "finish"})
      .group("");
}

void spread_where_asked(const std::string& on, Console& console) {
  if (on.empty()) return;
  console.flush();
  const char* named_python = std::getenv("FORETRAIN_RAY_PYTHON");
  const std::string python = named_python == nullptr ? "python3" : named_python;
  std::error_code problem;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  std::vector<std::string> words{python, "-c", kStart, "run", "--on", on, "--program", self, "--"};
  for (std::string& word : other_arguments()) words.push_back(std::move(word));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  throw Error(
      ErrorKind::NotFound,
      "--on runs Python, and " + named(python) +
          " cannot be run; name one by FORETRAIN_RAY_PYTHON that has the package foretrain");
}

std::vector<std::string> read_pieces() {
  LineReader reader("-");
  std::vector<std::string> pieces;
  for (std::vector<std::string> lines; reader.read(lines);) {
    for (std::string& line : lines) pieces.push_back(std::move(line));
  }
  return pieces;
}

}  // namespace foretrain::cli

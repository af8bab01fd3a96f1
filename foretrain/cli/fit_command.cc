// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/spread.h"

namespace foretrain::cli {
namespace {

// Becomes the program foretrain-fit, which lies beside this one.
[[noreturn]] void become_fit(const std::vector<std::string>& rest) {
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  const std::string program = (self.parent_path() / "foretrain-fit").string();
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& text : rest) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error(ErrorKind::Io,
              named(program) + ": cannot be run; it is built and installed with foretrain");
}

// The value of --on; "" where it is not given.
std::string given_address(const std::vector<std::string>& rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i].starts_with("--on=")) return rest[i].substr(5);
    if (rest[i] == "--on" && i + 1 < rest.size()) return rest[i + 1];
  }
  return "";
}

}  // namespace

void add_fit_command(Command& app, Console& console) {
  Command& command = app.add_subcommand("fit", "train a predictor from measurements");
  command.take_all();
  command.callback([&command, &console] {
    spread_where_asked(given_address(command.remaining()), console);
    console.flush();
    become_fit(command.remaining());
  });
}

void add_transfer_command(Command& app, Console& console) {
  Command& command = app.add_subcommand("transfer", "adapt a predictor to a new setting");
  command.take_all();
  command.callback([&command, &console] {
    console.flush();
    std::vector<std::string> rest = command.remaining();
    rest.insert(rest.begin(), "transfer");
    become_fit(rest);
  });
}

}  // namespace foretrain::cli

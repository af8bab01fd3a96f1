// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/console.h"
#include "foretrain/request/usual_words.h"

namespace foretrain::cli {
namespace {

constexpr int kCallerMustChange = 2;
constexpr int kOtherFailure = 1;

int fail(int code, const std::string& message) {
  std::fprintf(stderr, "foretrain: %s\n", printable(message, 2000).c_str());
  return code;
}

// The command whose arguments were being read.
const CLI::App& current(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : current(*commands.front());
}

// Its words: "foretrain collect operators".
std::string words_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : words_of(*parent) + " ") + command.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// "--gpus" is known as "--workers": "; did you mean '--workers'?". Else what is spelled alike.
std::string meant_option(const std::string& name, const std::vector<std::string>& known) {
  const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
  if (const std::optional<UsualWord> usual = find_usual_word(name.substr(dashes))) {
    std::string option = "--" + std::string(usual->field);
    std::replace(option.begin(), option.end(), '_', '-');
    if (std::find(known.begin(), known.end(), option) != known.end()) {
      if (!usual->value.empty()) option += " " + std::string(usual->value);
      return "; did you mean '" + option + "'?";
    }
  }
  return did_you_mean(name, known);
}

// What is wrong with the first argument that nobody took.
std::string explain_extra(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  const std::string extra = extras.empty() ? "" : extras.front();
  const CLI::App& command = current(app);
  if (extra.starts_with("-")) {
    const std::string name = extra.substr(0, extra.find('='));
    const std::vector<std::string> known = option_names(command);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return "option '" + name + "' must stand behind '" + command.get_name() + "'";
    }
    return "unknown option '" + name + "'" + meant_option(name, known);
  }
  if (&command != &app && command.get_require_subcommand_min() == 0) {
    return command.get_name() + ": unexpected argument '" + extra + "'";
  }
  std::vector<std::string> names;
  for (const CLI::App* known : command.get_subcommands({})) names.push_back(known->get_name());
  return "unknown command '" + extra + "'" + did_you_mean(extra, names);
}

// CLI11's words for a missing or repeated value, in ours.
std::string explain_count(const std::string& message) {
  const std::string option = message.substr(0, message.find(':'));
  const bool repeated = message.find("received") != std::string::npos;
  return option + (repeated ? " is given more than once" : " needs a value");
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  // What is missing is told after what was not understood, which may have been meant as it.
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
      (missing && !app.remaining(true).empty())) {
    return explain_extra(app);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return explain_count(error.what());
  }
  return error.what();
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = explain(app, error);
  if (!message.ends_with("?")) message += "; see " + words_of(current(app)) + " --help";
  return fail(kCallerMustChange, message);
}

// The next file that is opened takes the number of a standard one that is closed, and what is
// printed would be written into it. Whoever was closed still fails: what stands in goes the other
// way.
void hold_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest free
  }
}

int parse_and_run(CLI::App& app, int count, const char* const* arguments, Console& console) {
  try {
    app.parse(count, arguments);
    if (app.get_subcommands().empty()) console.line(app.help());
  } catch (const CLI::CallForVersion& version) {
    console.line(version.what());
  } catch (const CLI::Success&) {
    // `foretrain plan --help` asks about a command that is not there.
    const std::vector<std::string> extras = app.remaining(true);
    const bool unknown = app.get_subcommands().empty() && !extras.empty();
    if (unknown && !extras.front().starts_with("-")) throw CLI::ExtrasError(extras);
    console.line(app.help());
  }
  console.flush();
  return console.exit_code;
}

}  // namespace

int run_commands(const char* name, void (*add)(Command&, Console&), int count,
                 const char* const* arguments) {
  hold_closed_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is then an error of the write
  CLI::App app("", name);
  try {
    Console console;
    Command program(app);
    add(program, console);
    return parse_and_run(app, count, arguments, console);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  } catch (const BrokenPipe&) {
    return kOtherFailure;
  } catch (const Error& error) {
    return fail(error.kind() == ErrorKind::Io ? kOtherFailure : kCallerMustChange, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kOtherFailure, "not enough memory");
  } catch (const std::exception& error) {
    return fail(kOtherFailure, std::string("internal error: ") + error.what());
  }
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
// A command and its options. CLI11 reads them; it is seen by command.cc and program.cc alone,
// because a file that includes it takes seconds to compile.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT: the name is CLI11's
class App;
class Option;
}  // namespace CLI

namespace foretrain::cli {

// Each function but the last gives the option back, so that calls can follow one another.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& type_name(const std::string& name);  // what stands for its value in the help
  Option& default_str(const std::string& value);
  Option& group(const std::string& name);  // under which heading the help lists it; "" hides it
  Option& required();
  Option& delimiter(char between);       // of the values of a list
  Option& allow_extra_args(bool allow);  // whether a list takes the arguments that follow
  Option& one_of(std::vector<std::string> words);
  // `problem` tells what is wrong with a value, "" where nothing is.
  Option& check(const std::function<std::string(const std::string&)>& problem);
  Option& needs(const std::string& other);
  Option& needs(const Option& other);
  Option& excludes(const std::string& other);
  Option& excludes(const Option& other);

  std::size_t count() const;  // how often it was given

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // What these return lives as long as this.
  Command& add_subcommand(const std::string& name, const std::string& about);
  // Reads into `value`, which must live until the command has run. Names are "--name", "-n",
  // "place" without dashes, or several with commas. The types are listed in command.cc.
  template <typename Value>
  Option& add_option(const std::string& names, Value& value, const std::string& help);
  Option& add_flag(const std::string& names, bool& value, const std::string& help);
  Option& add_flag(const std::string& names, std::string& value, const std::string& help);

  void description(const std::string& text);
  void footer(const std::string& text);
  void callback(const std::function<void()>& run);
  void require_subcommand(std::size_t least, std::size_t most);
  void help_flag(const std::string& names, const std::string& help);
  void version_flag(const std::string& names, const std::string& version, const std::string& help);
  // Takes whatever follows as arguments of another program, `--help` too; `remaining` has them.
  void take_all();

  std::vector<std::string> remaining() const;
  bool subcommand_given() const;
  std::string name() const;
  // The first option that was given to the command that this is a part of; "" where none was.
  std::string option_before() const;

 private:
  CLI::App* app_;
  std::deque<Command> commands_;
  std::deque<Option> options_;
};

}  // namespace foretrain::cli

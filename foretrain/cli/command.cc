// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/command.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace foretrain::cli {
namespace {

template <typename Value>
constexpr bool kIsUnsigned =
    std::is_same_v<Value, std::uint64_t> || std::is_same_v<Value, std::optional<std::uint64_t>> ||
    std::is_same_v<Value, std::vector<std::uint64_t>>;

// CLI11 takes -1 and what is too large for the largest number there is.
std::string whole_number_problem(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 0) return "";
  return "'" + text + "' is not a whole number from 0 to 9223372036854775807";
}

// An unset variable in a script: `--trace "$OUT"` must not silently write nothing.
std::string empty_problem(const std::string& text) {
  return text.empty() ? "its value is empty" : "";
}

}  // namespace

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::default_str(const std::string& value) {
  option_->default_str(value);
  return *this;
}

Option& Option::group(const std::string& name) {
  option_->group(name);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Option& Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return *this;
}

Option& Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}

Option& Option::check(const std::function<std::string(const std::string&)>& problem) {
  option_->check(problem);
  return *this;
}

Option& Option::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

std::size_t Option::count() const { return option_->count(); }

Command& Command::add_subcommand(const std::string& name, const std::string& about) {
  return commands_.emplace_back(*app_->add_subcommand(name, about));
}

template <typename Value>
Option& Command::add_option(const std::string& names, Value& value, const std::string& help) {
  CLI::Option* option = app_->add_option(names, value, help);
  option->check(empty_problem);
  if constexpr (kIsUnsigned<Value>) option->check(whole_number_problem);
  return options_.emplace_back(*option);
}

#define FORETRAIN_OPTION_TYPE(...) \
  template Option& Command::add_option(const std::string&, __VA_ARGS__&, const std::string&)
FORETRAIN_OPTION_TYPE(std::string);
FORETRAIN_OPTION_TYPE(std::vector<std::string>);
FORETRAIN_OPTION_TYPE(std::filesystem::path);
FORETRAIN_OPTION_TYPE(double);
FORETRAIN_OPTION_TYPE(std::vector<double>);
FORETRAIN_OPTION_TYPE(std::optional<double>);
FORETRAIN_OPTION_TYPE(int);
FORETRAIN_OPTION_TYPE(std::vector<int>);
FORETRAIN_OPTION_TYPE(std::optional<int>);
FORETRAIN_OPTION_TYPE(std::int64_t);
FORETRAIN_OPTION_TYPE(std::vector<std::int64_t>);
FORETRAIN_OPTION_TYPE(std::uint64_t);  // and std::size_t
FORETRAIN_OPTION_TYPE(std::optional<std::uint64_t>);
FORETRAIN_OPTION_TYPE(std::vector<std::uint64_t>);
#undef FORETRAIN_OPTION_TYPE

Option& Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return options_.emplace_back(*app_->add_flag(names, value, help));
}

Option& Command::add_flag(const std::string& names, std::string& value, const std::string& help) {
  return options_.emplace_back(*app_->add_flag(names, value, help));
}

void Command::description(const std::string& text) { app_->description(text); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(const std::function<void()>& run) { app_->callback(run); }

void Command::require_subcommand(std::size_t least, std::size_t most) {
  app_->require_subcommand(least, most);
}

void Command::help_flag(const std::string& names, const std::string& help) {
  app_->set_help_flag(names, help);
}

void Command::version_flag(const std::string& names, const std::string& version,
                           const std::string& help) {
  app_->set_version_flag(names, version, help);
}

void Command::take_all() {
  app_->prefix_command();
  app_->set_help_flag();
}

std::vector<std::string> Command::remaining() const { return app_->remaining(); }

bool Command::subcommand_given() const { return !app_->get_subcommands().empty(); }

std::string Command::name() const { return app_->get_name(); }

std::string Command::option_before() const {
  for (const CLI::Option* option : app_->get_parent()->get_options()) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

}  // namespace foretrain::cli

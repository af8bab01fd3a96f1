// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/catalog_command.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/command.h"

namespace foretrain::cli {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

Command& add_catalog_command(Command& app, const std::string& name, const std::string& about,
                             const std::string& example,
                             std::function<void(const CatalogOptions&)> list) {
  auto options = std::make_shared<CatalogOptions>();
  Command& command = app.add_subcommand(name, about);
  command.footer("Example:\n  " + example);
  command.add_option("filter", options->filter, "only what contains this text");
  command.add_flag("--json", options->json, "print a JSON array with all values");
  command.callback([options, list = std::move(list)] { list(*options); });
  return command;
}

bool matches(const std::string& filter, const std::vector<std::string>& words) {
  const std::string wanted = lower(filter);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return lower(word).find(wanted) != std::string::npos;
  });
}

bool names_exactly(const std::string& filter, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return lower(name) == lower(filter); });
}

void fail_no_match(const std::string& what, const std::string& filter,
                   const std::vector<std::string>& names) {
  std::string near = did_you_mean(filter, names);
  if (near.empty()) near = "; leave the filter out to see all";
  throw Error(ErrorKind::NotFound, "no " + what + " matches '" + printable(filter) + "'" + near);
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
// What the commands that list a catalog have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foretrain/cli/console.h"

namespace foretrain::cli {

class Command;

struct CatalogOptions {
  std::string filter;  // "": everything
  bool json = false;
};

// Adds `foretrain NAME [FILTER] [--json]`.
Command& add_catalog_command(Command& app, const std::string& name, const std::string& about,
                             const std::string& example,
                             std::function<void(const CatalogOptions&)> list);

// Whether one of the words contains the filter; case does not matter.
bool matches(const std::string& filter, const std::vector<std::string>& words);

// Whether the filter is one of the names, not only a part of it; case does not matter.
bool names_exactly(const std::string& filter, const std::vector<std::string>& names);

// The error for a filter that nothing matches, listing near names.
[[noreturn]] void fail_no_match(const std::string& what, const std::string& filter,
                                const std::vector<std::string>& names);

}  // namespace foretrain::cli

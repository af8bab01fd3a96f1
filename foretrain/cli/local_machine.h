// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "foretrain/cli/catalog_command.h"
#include "foretrain/cli/console.h"
#include "foretrain/hw/catalog.h"

namespace foretrain::cli {

// What `foretrain devices --local` prints. Throws Error(BadInput) where a filter is given too.
void show_local_machine(const hw::Catalog& catalog, const CatalogOptions& options,
                        Console& console);

// The catalog's name of a GPU that its driver calls so: "Tesla T4" is "t4". Absent where none of
// its names is that.
std::optional<std::string> catalog_name(const hw::Catalog& catalog, const std::string& gpu);

}  // namespace foretrain::cli

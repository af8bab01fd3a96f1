// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foretrain::store {

// The tables of an export, in the order in which they refer to each other.
const std::vector<std::string>& export_tables();

// Throws Error(NotFound), with near matches, for what is none of them.
void check_table(const std::string& table);

}  // namespace foretrain::store

// SPDX-License-Identifier: Apache-2.0
// Networks over graphs as JSON: {"shape": {...}, "parameters": [{"name", "rows", "columns",
// "data"}], "checksum": n}, data being the bits of the numbers in base64. The checksum is that of
// the same object without it, its keys sorted and no spaces in between.
#pragma once

#include <string>
#include <string_view>

#include "foretrain/learn/graph_network.h"

namespace foretrain::learn {

std::string write_network(const GraphNetwork& network);

// Throws Error(BadInput) naming `where` for what is no network, is damaged, has other parameters
// than its shape asks for, or a number that is not finite. Asks for no more memory than the text
// has.
GraphNetwork read_network(std::string_view text, const std::string& where);

}  // namespace foretrain::learn

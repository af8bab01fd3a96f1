// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foretrain::cli {

// A request that an option gives: its JSON, or the content of the file that it names; "" for "".
// Throws Error(Io).
std::string given_request(const std::string& text);

}  // namespace foretrain::cli

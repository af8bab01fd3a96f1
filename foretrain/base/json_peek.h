// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

// The text of a field of the outermost JSON object, which is read no further than there; absent
// where it is no text, is not there or the JSON before it is malformed. What follows is not
// checked.
std::optional<std::string> peek_text(std::string_view json, std::string_view key);

}  // namespace foretrain

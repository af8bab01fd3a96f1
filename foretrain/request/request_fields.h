// SPDX-License-Identifier: Apache-2.0
// The fields of a request: one table for the reader, the command's options and the help.
#pragma once

#include <span>
#include <string_view>

namespace foretrain {

enum class FieldType { Text, Boolean, Number, Integer, List, Object };

struct RequestField {
  std::string_view name;  // as in JSON; the option has dashes
  FieldType type;
  std::string_view help;
};

std::span<const RequestField> request_fields();
std::span<const RequestField> strategy_fields();  // of the object `strategy`

}  // namespace foretrain

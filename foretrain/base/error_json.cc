// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/error_json.h"

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain {

std::string error_json(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const OrderedJson json{{"error",
                          {{"kind", ours == nullptr ? "Internal" : to_string(ours->kind())},
                           {"message", error.what()}}}};
  return json_text(json);
}

}  // namespace foretrain

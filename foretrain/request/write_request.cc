// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "foretrain/base/json.h"
#include "foretrain/request/request.h"
#include "foretrain/request/request_fields.h"

namespace foretrain {
namespace {

OrderedJson json_of(const FieldValue& value) {
  if (const auto* described = std::get_if<Described>(&value)) {
    return described->json ? ordered_json(described->text) : OrderedJson(described->text);
  }
  return std::visit(
      [](const auto& held) -> OrderedJson {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate> || std::is_same_v<Held, Described>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

OrderedJson written(std::span<const RequestField> rows, const Request& request) {
  static const Request kDefault;
  OrderedJson object = OrderedJson::object();
  for (const RequestField& row : rows) {
    const std::string name(row.name);
    if (row.type == FieldType::Object) {
      OrderedJson strategy = written(strategy_fields(), request);
      if (!strategy.empty()) object[name] = std::move(strategy);
    } else if (FieldValue value = row.value(request); value != row.value(kDefault)) {
      object[name] = json_of(value);
    }
  }
  return object;
}

OrderedJson changes(std::span<const RequestField> rows, const Request& before,
                    const Request& after) {
  OrderedJson object = OrderedJson::object();
  for (const RequestField& row : rows) {
    const std::string name(row.name);
    if (row.type == FieldType::Object) {
      OrderedJson strategy = changes(strategy_fields(), before, after);
      if (!strategy.empty()) object[name] = std::move(strategy);
    } else if (FieldValue value = row.value(after); value != row.value(before)) {
      object[name] = json_of(value);
    }
  }
  return object;
}

}  // namespace

std::string changes_json(const Request& before, const Request& after) {
  return json_text(changes(request_fields(), before, after));
}

std::string to_json(const Request& request) {
  return json_text(written(request_fields(), request));
}

}  // namespace foretrain

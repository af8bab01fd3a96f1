// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/change.h"

#include <algorithm>
#include <cctype>

#include "foretrain/base/json.h"

namespace foretrain {
namespace {

// As a shell reads it back.
std::string quoted(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string("_./:=,+@%-").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// A strategy's fields are options of their own.
std::string as_options(const OrderedJson& fields) {
  std::string text;
  for (const auto& [name, value] : fields.items()) {
    if (!text.empty()) text += ' ';
    if (name == "strategy") {
      text += as_options(value);
      continue;
    }
    std::string option = "--" + (name == "kind" ? "strategy" : name);
    std::replace(option.begin(), option.end(), '_', '-');
    if (value.is_null()) {
      text += "without " + option;
    } else {
      text +=
          option + ' ' + quoted(value.is_string() ? value.get<std::string>() : json_text(value));
    }
  }
  return text;
}

}  // namespace

std::string change_options(const Request& before, const Request& after) {
  return as_options(ordered_json(changes_json(before, after)));
}

bool is_part_of(const std::string& fewer, const std::string& more) {
  const OrderedJson part = ordered_json(fewer).flatten();
  const OrderedJson whole = ordered_json(more).flatten();
  for (const auto& [path, value] : part.items()) {
    if (!whole.contains(path) || whole[path] != value) return false;
  }
  return true;
}

std::string predict_command(const Request& request) {
  OrderedJson fields = ordered_json(to_json(request));
  const std::string model = quoted(fields["model"].get<std::string>());
  fields.erase("model");
  const std::string options = as_options(fields);
  return "foretrain predict " + model + (options.empty() ? "" : " " + options);
}

}  // namespace foretrain

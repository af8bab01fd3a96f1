// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/detail/spec.h"

#include <algorithm>
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::zoo {
namespace {

[[noreturn]] void fail(const std::string& model, const std::string& message) {
  throw Error(ErrorKind::BadInput, "model '" + printable(model) + "': " + message);
}

// "a, b or c".
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

Spec::Spec(const std::string& text) {
  const std::size_t colon = text.find(':');
  name_ = text.substr(0, colon);
  if (name_.empty()) {
    throw Error(ErrorKind::BadInput,
                "model '" + printable(text) + "' has no name; write name:key=value,key=value");
  }
  if (colon == std::string::npos) return;
  std::size_t begin = colon + 1;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string field = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = field.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == field.size()) {
      fail(name_, "'" + printable(field) + "' is no parameter; write name:key=value,key=value");
    }
    Parameter parameter{field.substr(0, equals), field.substr(equals + 1)};
    const bool twice = std::any_of(parameters_.begin(), parameters_.end(),
                                   [&](const Parameter& p) { return p.key == parameter.key; });
    if (twice) fail(name_, "parameter '" + printable(parameter.key) + "' is given twice");
    parameters_.push_back(std::move(parameter));
  }
}

const std::string* Spec::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  for (const Parameter& parameter : parameters_) {
    if (parameter.key == key) return &parameter.value;
  }
  return nullptr;
}

std::int64_t Spec::take(const std::string& key, std::int64_t otherwise, std::int64_t least,
                        std::int64_t most) {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, number);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end) {
    fail(name_, key + "=" + printable(*value) + " is not a whole number");
  }
  if (parsed.ec != std::errc{} || number < least || number > most) {
    fail(name_, key + "=" + printable(*value) + " is not within " + std::to_string(least) + " to " +
                    std::to_string(most));
  }
  return number;
}

std::string Spec::take_text(const std::string& key, const std::string& otherwise,
                            const std::vector<std::string>& allowed) {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  if (std::find(allowed.begin(), allowed.end(), *value) == allowed.end()) {
    fail(name_, key + "=" + printable(*value) + " is not known; choose " + listed(allowed));
  }
  return *value;
}

void Spec::finish() const {
  for (const Parameter& parameter : parameters_) {
    if (std::find(known_.begin(), known_.end(), parameter.key) != known_.end()) continue;
    std::string message = "has no parameter '" + printable(parameter.key) + "'";
    const std::string near = did_you_mean(parameter.key, known_);
    if (!near.empty()) {
      message += near;
    } else if (known_.empty()) {
      message += "; it takes none";
    } else {
      message += "; it takes " + listed(known_);
    }
    fail(name_, message);
  }
}

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/huggingface_translation.h"

#include <algorithm>

#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/zoo/detail/activation.h"

namespace foretrain::zoo {
namespace {

constexpr std::int64_t kMostSize = std::int64_t{1} << 24;

}  // namespace

void Translation::fail(const std::string& what, ErrorKind kind) const {
  throw Error(kind, printable(fields_.where(), 200) + ": " + what);
}

bool Translation::has(const std::string& field) const { return fields_.has(field); }

std::int64_t Translation::size(const std::string& field, std::optional<std::int64_t> otherwise) {
  const std::optional<std::int64_t> value = fields_.integer(field);
  if (!value && !otherwise) fail("the field '" + field + "' is missing");
  const std::int64_t number = value ? *value : *otherwise;
  if (number < 1 || number > kMostSize) {
    fail("the field '" + field + "' is " + std::to_string(number) + ", not within 1 to " +
         std::to_string(kMostSize));
  }
  return number;
}

bool Translation::flag(const std::string& field, bool otherwise) {
  return fields_.boolean(field).value_or(otherwise);
}

double Translation::number(const std::string& field, double otherwise) {
  return fields_.number(field).value_or(otherwise);
}

std::string Translation::text(const std::string& field, const std::string& otherwise) {
  return fields_.text(field).value_or(otherwise);
}

std::int64_t Translation::entries(const std::string& field) {
  const Json* value = fields_.find(field);
  if (value == nullptr) return 0;
  if (!value->is_object()) {
    fail("the field '" + field + "' must be an object, not " + value->type_name());
  }
  return static_cast<std::int64_t>(value->size());
}

void Translation::set_activation(const std::string& field, const std::string& name) {
  const std::vector<std::string>& known = activation_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    fail("the activation '" + printable(name) + "' in '" + field + "' is not known" +
             did_you_mean(name, known),
         ErrorKind::Unsupported);
  }
  set("act", name);
}

void Translation::set_length(std::int64_t longest) {
  set("seq", std::min(longest, kLongestSequence));
  longest_ = longest;
}

void Translation::take(const std::string& key, const std::string& field,
                       std::optional<std::int64_t> otherwise) {
  set(key, size(field, otherwise));
}

void Translation::take_flag(const std::string& key, const std::string& field, bool otherwise) {
  set(key, flag(field, otherwise) ? 1 : 0);
}

void Translation::take_activation(const std::string& field, const std::string& otherwise) {
  set_activation(field, text(field, otherwise));
}

void Translation::require_flag(const std::string& field, bool expected) {
  if (flag(field, expected) == expected) return;
  fail("'" + field + "' is " + (expected ? "false" : "true") + ", a variant that is not built here",
       ErrorKind::Unsupported);
}

}  // namespace foretrain::zoo

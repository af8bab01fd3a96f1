// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/base/error.h"

namespace foretrain {
class JsonFields;
}

namespace foretrain::zoo {

// Fields of a config.json becoming parameters of a built-in model. Every accessor throws Error
// naming file and field where a value is missing, of the wrong type or absurd. Keeps a reference
// to `fields`.
class Translation {
 public:
  explicit Translation(JsonFields& fields) : fields_(fields) {}

  [[noreturn]] void fail(const std::string& what, ErrorKind kind = ErrorKind::BadInput) const;

  bool has(const std::string& field) const;  // and is not null
  // A size, from 1 to 2^24. Where it is missing: `otherwise`, or an error.
  std::int64_t size(const std::string& field, std::optional<std::int64_t> otherwise = {});
  bool flag(const std::string& field, bool otherwise);
  double number(const std::string& field, double otherwise);
  std::string text(const std::string& field, const std::string& otherwise);
  std::int64_t entries(const std::string& field);  // of an object; 0 where it is missing

  void set(const std::string& key, std::int64_t value) { set(key, std::to_string(value)); }
  void set(const std::string& key, const std::string& value) { set_.emplace_back(key, value); }
  void set_activation(const std::string& field, const std::string& name);
  // Sequences of up to `longest` tokens; the parameter is at most 4096.
  void set_length(std::int64_t longest);

  // Parameter `key` is what `field` says.
  void take(const std::string& key, const std::string& field,
            std::optional<std::int64_t> otherwise = {});
  void take_flag(const std::string& key, const std::string& field, bool otherwise);
  void take_activation(const std::string& field, const std::string& otherwise);

  // Throws Error(Unsupported) where `field` is not `expected`, the only variant built here.
  void require_flag(const std::string& field, bool expected);

  const std::vector<std::pair<std::string, std::string>>& parameters() const { return set_; }
  std::optional<std::int64_t> longest() const { return longest_; }  // of a sequence

 private:
  JsonFields& fields_;
  std::vector<std::pair<std::string, std::string>> set_;
  std::optional<std::int64_t> longest_;
};

// Translates a configuration of this model_type and returns the built-in model that it is a
// form of. Throws Error(Unsupported) listing the known ones.
std::string translate(const std::string& model_type, Translation& translation);

inline constexpr std::int64_t kLongestSequence = 4096;  // tokens, unless the caller says otherwise

}  // namespace foretrain::zoo

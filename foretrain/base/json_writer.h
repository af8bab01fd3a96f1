// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

// Writes JSON text as it goes, in the order of the calls, without building a tree first: the
// report of a prediction is written thousands of times per second. Numbers are the shortest
// text that reads back as the same double; what is not finite becomes null.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);  // of the value that follows

  JsonWriter& value(double number);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag);
  JsonWriter& null();
  JsonWriter& json(std::string_view text);  // a value that is JSON already

  template <typename T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }

  // A key with its value.
  template <typename T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  std::string finish() { return std::move(text_); }

 private:
  void separate();

  std::string text_;
  bool first_ = true;  // nothing stands before the next value in its object or array
};

}  // namespace foretrain

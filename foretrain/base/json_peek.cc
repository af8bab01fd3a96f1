// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json_peek.h"

#include "foretrain/base/json.h"

namespace foretrain {
namespace {

// Told of every value in turn; false ends the reading.
class Peek : public nlohmann::json_sax<Json> {
 public:
  explicit Peek(std::string_view key) : key_(key) {}

  bool null() override { return pass(); }
  bool boolean(bool) override { return pass(); }
  bool number_integer(number_integer_t) override { return pass(); }
  bool number_unsigned(number_unsigned_t) override { return pass(); }
  bool number_float(number_float_t, const string_t&) override { return pass(); }
  bool string(string_t& text) override {
    if (!wanted_) return true;
    found = text;
    return false;
  }
  bool binary(binary_t&) override { return pass(); }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    wanted_ = depth_ == 1 && name == key_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  std::optional<std::string> found;

 private:
  // A wanted field that is no text is not looked for again.
  bool pass() const { return !wanted_; }
  bool enter() {
    ++depth_;
    return pass();
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::string_view key_;
  int depth_ = 0;
  bool wanted_ = false;
};

}  // namespace

std::optional<std::string> peek_text(std::string_view json, std::string_view key) {
  Peek peek(key);
  Json::sax_parse(json.begin(), json.end(), &peek);
  return peek.found;
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/pattern.h"

#include <re2/re2.h>

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::measured {
namespace {

constexpr std::size_t kLongest = 4096;         // bytes of an expression
constexpr std::int64_t kMostMemory = 8 << 20;  // bytes of its automata

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(const std::string& expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_max_mem(kMostMemory);
  std::string reason = "longer than " + std::to_string(kLongest) + " bytes";
  if (expression.size() <= kLongest) {
    engine_ = std::make_shared<const re2::RE2>(expression, options);
    if (engine_->ok()) return;
    reason = engine_->error();
  }
  throw Error(ErrorKind::BadInput, "'" + printable(expression) +
                                       "' is no regular expression: " + printable(reason, 100));
}

bool Pattern::is_in(std::string_view text) const {
  return engine_->Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::optional<std::string> Pattern::find(std::string_view text) const {
  std::array<re2::StringPiece, 2> groups;
  const int wanted = engine_->NumberOfCapturingGroups() > 0 ? 2 : 1;
  if (!engine_->Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, groups.data(), wanted)) {
    return std::nullopt;
  }
  const re2::StringPiece& found = groups[static_cast<std::size_t>(wanted - 1)];
  return std::string(found.data() == nullptr ? "" : found.data(), found.size());
}

}  // namespace foretrain::measured

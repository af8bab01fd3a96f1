// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/lab/campaign.h"

namespace foretrain::lab {
namespace {

constexpr std::size_t kMost = 100'000;

[[noreturn]] void bad(const std::string& text, const char* what) {
  throw Error(ErrorKind::BadInput, "'" + printable(text) + "': " + what);
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

// What the inside of one pair of braces stands for.
std::vector<std::string> choices(const std::string& inside, const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin <= inside.size();) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    const std::string part = inside.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      result.push_back(part);
      continue;
    }
    const std::optional<std::int64_t> first = whole(std::string_view(part).substr(0, dots));
    const std::optional<std::int64_t> last = whole(std::string_view(part).substr(dots + 2));
    if (!first || !last || *last < *first) bad(text, "a range is written {1..9}");
    if (static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first) >= kMost) {
      bad(text, "the range is too long");
    }
    for (std::int64_t i = *first; i <= *last; ++i) result.push_back(std::to_string(i));
  }
  return result;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& text) {
  const std::size_t open = text.find('{');
  if (open == std::string::npos) {
    if (text.find('}') != std::string::npos) bad(text, "a brace is closed that was not opened");
    return {text};
  }
  const std::size_t close = text.find('}', open);
  if (close == std::string::npos) bad(text, "a brace is not closed");
  const std::vector<std::string> ends = expand_braces(text.substr(close + 1));
  std::vector<std::string> result;
  for (const std::string& choice : choices(text.substr(open + 1, close - open - 1), text)) {
    for (const std::string& end : ends) result.push_back(text.substr(0, open) + choice + end);
    if (result.size() > kMost) bad(text, "stands for too many texts");
  }
  return result;
}

}  // namespace foretrain::lab

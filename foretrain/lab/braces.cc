// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/lab/campaign.h"

namespace foretrain::lab {
namespace {

constexpr std::size_t kMost = 100'000;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of all texts together
constexpr int kMostPairs = 16;

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
    const std::uint64_t more =
        static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first);
    if (more >= kMost || result.size() > kMost) bad(text, "the range is too long");
    for (std::uint64_t i = 0; i <= more; ++i) {
      result.push_back(std::to_string(*first + static_cast<std::int64_t>(i)));
    }
  }
  return result;
}

// Every beginning with every end, the ends varying fastest.
std::vector<std::string> product(const std::vector<std::string>& beginnings,
                                 const std::vector<std::string>& ends, const std::string& text) {
  std::size_t bytes = 0;
  for (const std::string& one : beginnings) bytes += one.size() * ends.size();
  for (const std::string& one : ends) bytes += one.size() * beginnings.size();
  if (beginnings.size() * ends.size() > kMost || bytes > kMostBytes) {
    bad(text, "stands for too many texts");
  }
  std::vector<std::string> result;
  for (const std::string& beginning : beginnings) {
    for (const std::string& end : ends) result.push_back(beginning + end);
  }
  return result;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& text) {
  std::vector<std::string> result{""};
  std::size_t begin = 0;
  for (int pairs = 0;; ++pairs) {
    const std::size_t open = std::min(text.find('{', begin), text.size());
    const std::string plain = text.substr(begin, open - begin);
    if (plain.find('}') != std::string::npos) bad(text, "a brace is closed that was not opened");
    result = product(result, {plain}, text);
    if (open == text.size()) return result;
    if (pairs == kMostPairs) bad(text, "has too many braces");
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) bad(text, "a brace is not closed");
    result = product(result, choices(text.substr(open + 1, close - open - 1), text), text);
    begin = close + 1;
  }
}

}  // namespace foretrain::lab

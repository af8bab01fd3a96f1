// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/duration.h"

#include <charconv>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

constexpr double kLongest = 86400e9;

// Seconds of a unit; 0 where it is none.
double unit_s(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return unit == "d" ? 86400 : 0;
}

}  // namespace

Seconds parse_duration(const std::string& text, const std::string& where) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  const double seconds =
      problem == std::errc() ? number * unit_s({rest, static_cast<std::size_t>(end - rest)}) : 0;
  if (!(seconds > 0 && seconds <= kLongest)) {
    throw Error(ErrorKind::BadInput, where + ": '" + printable(text) +
                                         "' is no length of time such as 90s, 15m, 12h or 2d");
  }
  return Seconds{seconds};
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/humanise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "foretrain/base/format.h"

namespace foretrain {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86400;
constexpr double kYear = 365.25 * kDay;

std::string fixed(double value, int decimals) { return format("%.*f", decimals, value); }

// The largest unit that leaves less than `base`, also after rounding to three digits.
std::string scaled(double value, double base, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= base * 0.9995) {
    value /= base;
    ++unit;
  }
  return significant(value, 3) + " " + units[unit];
}

// "2 h 05 min": whole numbers of a large unit and of the small one that divides it.
std::string two_units(double seconds, double large, const char* large_name, double small,
                      const char* small_name) {
  const double smalls = std::round(seconds / small);
  const double per_large = large / small;
  const double whole = std::floor(smalls / per_large);
  const double rest = smalls - whole * per_large;
  std::string text = fixed(whole, 0) + " " + large_name;
  if (rest > 0) text += " " + fixed(rest, 0) + " " + small_name;
  return text;
}

}  // namespace

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "?";
  if (value == 0) return "0";
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(std::abs(value) * std::pow(10, digits - 1 - exponent));
  if (rounded >= std::pow(10, digits)) ++exponent;  // 9.996 becomes 10.0
  return fixed(value, std::clamp(digits - 1 - exponent, 0, 15));
}

std::string format_bytes(double bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1000) return significant(std::round(bytes), 3) + " B";
  return scaled(bytes, 1024, kUnits);
}

std::string format_rate(double bytes_per_s) {
  static constexpr std::array kUnits{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return scaled(bytes_per_s, 1000, kUnits);
}

std::string format_large(double value) {
  static constexpr std::array kUnits{"", "k", "M", "G", "T", "P", "E"};
  if (std::abs(value) < 1000) return significant(value, 3);
  return scaled(value, 1000, kUnits);
}

std::string format_count(double value) {
  if (std::abs(value) < 99.95 && value != std::round(value)) return significant(value, 3);
  std::string text = fixed(value, 0);
  const int first = text.starts_with("-") ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string format_share(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return fixed(percent, 1) + " %";
}

std::string format_money(double usd) {
  if (usd != 0 && std::abs(usd) < 0.995) return "$" + significant(usd, 2);
  if (std::abs(usd) < 999.995) return "$" + fixed(usd, 2);
  return "$" + format_count(std::round(usd));
}

std::string format_time(Seconds time) {
  const double seconds = time.count();
  if (!std::isfinite(seconds)) return "?";
  if (seconds == 0) return "0 s";
  if (seconds < 0.99995e-6) return significant(seconds * 1e9, 4) + " ns";
  if (seconds < 0.99995e-3) return significant(seconds * 1e6, 4) + " us";
  if (seconds < 0.99995) return significant(seconds * 1e3, 4) + " ms";
  if (seconds < 59.995) return significant(seconds, 4) + " s";
  if (seconds < kHour - 0.5) return two_units(seconds, kMinute, "min", 1, "s");
  if (seconds < kDay - kMinute / 2) return two_units(seconds, kHour, "h", kMinute, "min");
  if (seconds < kYear - kHour / 2) return two_units(seconds, kDay, "d", kHour, "h");
  return format_count(seconds / kYear) + " years";
}

std::string format_change(double before, double after) {
  if (before == after) return "=";
  if (before == 0) return "new";
  const double percent = (after / before - 1) * 100;
  if (!std::isfinite(percent)) return "?";
  if (std::abs(percent) < 0.05) return "=";
  const std::string size = std::abs(percent) < 9.95 ? fixed(std::abs(percent), 1)
                                                    : format_count(std::round(std::abs(percent)));
  return (percent > 0 ? "+" : "-") + size + " %";
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. All in ASCII, so that they fit every screen.
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/base/seconds.h"

namespace foretrain {

// `value` rounded to `digits` significant digits, without an exponent: "0.0123", "2782".
std::string significant(double value, int digits);

std::string format_bytes(double bytes);       // powers of 1024: "13.1 GiB"
std::string format_rate(double bytes_per_s);  // powers of 1000: "1.25 GB/s"
std::string format_large(double value);       // "25.6 M", "8.18 G"
std::string format_count(double value);       // "25,557,032"; below 100 three digits: "3.14"
std::string format_share(double share);       // 0.538 is "53.8 %"; "<0.1 %"
std::string format_money(double usd);         // "$50.70", "$12,346"

// The two largest units: "368.1 ms", "7 min 41 s", "11 h 31 min", "3 d 4 h".
std::string format_time(Seconds time);

// The change from `before` to `after`: "+92 %", "-3.1 %", "=". Where `before` is 0: "new".
std::string format_change(double before, double after);

}  // namespace foretrain

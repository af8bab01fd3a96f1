// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/job_trace_row.h"

#include <charconv>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::sched {

double parse_number(std::string_view text, const std::string& where, const std::string& column) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw Error(ErrorKind::BadInput,
                where + ": '" + column + "' must be a number, not '" + printable(text) + "'");
  }
  return value;
}

int check_devices(double devices, const std::string& where) {
  if (devices != std::floor(devices) || devices < 1 || devices > kMostDevicesOfJob) {
    throw Error(ErrorKind::BadInput, where + ": a job has 1 to " +
                                         std::to_string(kMostDevicesOfJob) +
                                         " whole devices; shares of a device are not simulated");
  }
  return static_cast<int>(devices);
}

double check_time(double seconds, const std::string& where, const std::string& what) {
  if (seconds < 0 || seconds > kLongest) {
    throw Error(ErrorKind::BadInput, where + ": '" + what + "' must be 0 to 1e12 s");
  }
  return seconds;
}

const std::string& JobTraceRow::text(const std::string& column) const {
  static const std::string nothing;
  const auto place = columns_.find(column);
  return place == columns_.end() ? nothing : fields_[place->second];
}

double JobTraceRow::number(const std::string& column) const {
  const std::string& field = text(column);
  if (field.empty()) throw Error(ErrorKind::BadInput, where_ + ": '" + column + "' is missing");
  return parse_number(field, where_, column);
}

std::optional<double> JobTraceRow::maybe(const std::string& column) const {
  if (!has(column)) return std::nullopt;
  return number(column);
}

int JobTraceRow::devices(const std::string& column) const {
  return check_devices(number(column), where_);
}

Seconds JobTraceRow::time(const std::string& column) const {
  return Seconds{check_time(number(column), where_, column)};
}

}  // namespace foretrain::sched

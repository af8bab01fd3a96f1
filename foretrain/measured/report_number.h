// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "foretrain/predict/report.h"

namespace foretrain::measured {

// A number of a report that measurements are compared with, in SI units.
struct ReportNumber {
  std::string_view name;
  std::optional<double> (*read)(const Report&);
  int of_step = 0;  // 1: in proportion to the step's time, -1: to its inverse, 0: neither
};

std::span<const ReportNumber> report_numbers();

// Its place in report_numbers(). Throws Error(NotFound) with near matches.
std::size_t report_number_named(const std::string& name);

// Whether a row with this number tells of a run that did not fit its device.
bool says_it_did_not_fit(std::size_t number);

}  // namespace foretrain::measured

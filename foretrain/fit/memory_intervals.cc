// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/memory_intervals.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::fit {
namespace {

// What a row of memory counts; "" of another row.
std::string counter_of(std::size_t number) {
  const std::string_view name = measured::report_numbers()[number].name;
  if (name == "memory_allocated_bytes") return "allocated";
  if (name == "memory_reserved_bytes") return "reserved";
  return name == "memory_peak_bytes" ? "used" : "";
}

std::vector<JudgedCase> predicted_peaks(const std::filesystem::path& data, const Library& library) {
  std::vector<JudgedCase> cases;
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& one) {
    if (one.outcome != evaluate::Outcome::Predicted) return;
    const std::string counter = counter_of(one.number);
    if (counter.empty()) return;
    JudgedCase& judged =
        cases.emplace_back(JudgedCase{one, {}, std::log(one.measured / one.predicted)});
    word(judged.measured.regime, Trait::Counter) = counter;
    if (!one.source.empty()) judged.measured.file += "/" + one.source;
  };
  evaluate::evaluate(data, {}, library, observer);
  return cases;
}

Residuals residuals_of(const std::vector<JudgedCase>& cases) {
  Residuals residuals;
  for (const JudgedCase& one : cases) {
    residuals.rows.push_back(
        {source_of(one.measured.file, residuals.sources), one.measured.regime, {}, one.log_ratio});
  }
  if (residuals.sources.size() < kFewestSources || residuals.sources.size() > kMostSources) {
    throw Error(ErrorKind::BadInput,
                "intervals of memory need measured peaks from 3 to 64 sources, here are " +
                    std::to_string(residuals.sources.size()));
  }
  return residuals;
}

}  // namespace

FittedMemoryIntervals fit_memory_intervals(const std::filesystem::path& data,
                                           const ConformalOptions& options,
                                           const Library& library) {
  FittedMemoryIntervals fitted;
  fitted.cases = predicted_peaks(data, library);
  const Residuals residuals = residuals_of(fitted.cases);
  const std::vector<LeftOut> left_out = leave_sources_out(residuals, options);
  for (std::size_t i = 0; i < left_out.size(); ++i) fitted.cases[i].left_out = left_out[i];
  fitted.sources = score_sources(fitted.cases, options.confidence);
  fitted.rule = choose_rule(residuals, 0, options);
  MemoryIntervals& intervals = fitted.intervals;
  intervals.confidence = options.confidence;
  intervals.traits = fitted.rule.traits;
  const std::vector<double> shares(kMemoryShares.begin(), kMemoryShares.end());
  const auto quantiles = fit_quantiles(residuals, fitted.rule, shares, options);
  for (const auto& [name, ends] : fit_cells(residuals, fitted.rule, 0, options)) {
    MemoryCell& cell = intervals.cells[name];
    cell = {to_four_decimals(ends.low), to_four_decimals(ends.high), {}, ends.rows, ends.sources};
    std::transform(quantiles.at(name).begin(), quantiles.at(name).end(), cell.quantiles.begin(),
                   to_four_decimals);
  }
  return fitted;
}

}  // namespace foretrain::fit

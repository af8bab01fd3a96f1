// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "foretrain/hw/device.h"
#include "foretrain/predict/domain.h"
#include "foretrain/predict/summarise.h"

namespace foretrain {
namespace {

MeasuredCase asked_case(const Stages& stages, const Request& request, const Regime& regime) {
  MeasuredCase asked;
  asked.model = stages.step->graph.name;
  asked.family = word(regime, Trait::Family);
  asked.device = chip_named(slowest_device(stages).name);
  asked.architecture = word(regime, Trait::Architecture);
  asked.precision = to_string(request.precision);
  asked.mode = word(regime, Trait::Mode);
  asked.framework = word(regime, Trait::Framework);
  asked.most_workers = stages.setting.workers;
  asked.most_batch = stages.setting.batch;
  return asked;
}

}  // namespace

void report_trust(const Stages& stages, const Request& request, Report& report) {
  const bool own = stages.setting.intervals != nullptr;
  const Intervals& intervals = own ? *stages.setting.intervals : shipped_intervals();
  Regime regime = regime_of(stages, request, report);
  const MeasuredCase asked = asked_case(stages, request, regime);
  for (std::string& text : domain_warnings(intervals, asked)) {
    report.warnings.push_back(std::move(text));
  }
  const bool seen = is_measured(intervals, asked.device);
  if (hw::is_cpu(slowest_device(stages)) && !seen) return;  // GPUs tell nothing of it
  word(regime, Trait::Seen) = seen ? "seen" : "new";
  const IntervalCell* cell = find_cell(intervals, regime);
  if (cell == nullptr) return;
  Estimate& step = report.step_time_s;
  step.low = step.value * std::exp(cell->low);
  step.high = step.value * std::exp(cell->high);
  step.confidence = intervals.confidence;
  if (!request.predictors.empty() && !own) {
    report.assumptions.emplace_back("the interval is that of predictions without your predictors");
  }
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/trust.h"

#include <cmath>

#include "foretrain/operators/breakdown.h"
#include "foretrain/operators/detail/domain.h"

namespace foretrain::operators {
namespace {

MeasuredCase asked_case(const Stages& stages, const Resolved& resolved, const Regime& regime) {
  MeasuredCase asked;
  asked.model = stages.step->graph.name;
  asked.family = word(regime, Trait::Family);
  asked.device = chip_named(slowest_device(stages, resolved).name);
  asked.architecture = word(regime, Trait::Architecture);
  asked.precision = to_string(resolved.precision);
  asked.mode = word(regime, Trait::Mode);
  asked.framework = word(regime, Trait::Framework);
  asked.most_workers = resolved.workers;
  asked.most_batch = resolved.batch;
  return asked;
}

}  // namespace

Trust trust_in(const Stages& stages, const Resolved& resolved, const Regime& regime,
               const StepShares& shares) {
  const Intervals& intervals = *resolved.intervals;
  const MeasuredCase asked = asked_case(stages, resolved, regime);
  Trust trust;
  trust.step.value = stages.timeline.end.count();
  trust.warnings = domain_warnings(intervals, asked);
  const bool seen = is_measured(intervals, asked.device);
  if (hw::is_cpu(slowest_device(stages, resolved)) && !seen)
    return trust;  // GPUs tell nothing of it
  const Ends ends = ends_of(intervals.spread, regime, shares);
  trust.step.low = trust.step.value * std::exp(ends.low);
  trust.step.high = trust.step.value * std::exp(ends.high);
  trust.step.confidence = intervals.confidence;
  if (resolved.own_predictors && !resolved.own_intervals) {
    trust.assumptions.emplace_back("the interval is that of predictions without your predictors");
  }
  return trust;
}

void trust_memory(const Resolved& resolved, const Regime& regime, MemoryReport& memory) {
  const hw::Device& device = resolved.cluster.devices.front();
  const auto& intervals = resolved.memory_intervals;
  if (!intervals || hw::is_cpu(device) || resolved.mode != Mode::Train) return;
  Regime here = regime;
  word(here, Trait::Counter) = "used";
  const MemoryCell* cell = find_cell(*intervals, here);
  if (cell == nullptr) return;
  memory.low = memory.peak * std::exp(cell->low);
  memory.high = memory.peak * std::exp(cell->high);
  memory.fit_probability = share_within(*cell, memory.capacity / memory.least);
}

}  // namespace foretrain::operators

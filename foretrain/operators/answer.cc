// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/answer.h"

#include <array>
#include <cstdio>

#include "foretrain/operators/breakdown.h"
#include "foretrain/operators/detail/memory.h"
#include "foretrain/operators/detail/regime.h"
#include "foretrain/operators/detail/resources.h"
#include "foretrain/operators/detail/trust.h"

namespace foretrain::operators {
namespace {

constexpr std::string_view kStepWhy = "where the simulated timeline ends";
constexpr std::string_view kMemoryWhy = "live bytes over the step, as its allocator reserves them";

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * share);
  return text.data();
}

// Of the kernels' time.
double recomputed_share(const Stages& stages, const Resolved& resolved) {
  const std::vector<Seconds> times = operator_times(stages, resolved.passes);
  Seconds again{0};
  Seconds all{0};
  for (std::size_t n = 0; n < times.size(); ++n) {
    all += times[n];
    if (stages.step->graph.nodes[n].phase == graph::Phase::Recompute) again += times[n];
  }
  return all > Seconds{0} ? again / all : 0;
}

void list_assumptions(const Stages& stages, const Resolved& resolved, StepDetail& detail) {
  std::vector<std::string>& list = detail.assumptions;
  for (const std::string& note : stages.step->graph.notes) list.push_back(note);
  for (const std::string& note : stages.program.assumptions) list.push_back(note);
  if (resolved.mode == Mode::Train) {
    list.push_back("optimizer " + std::string(graph::row_of(resolved.optimizer).name) +
                   ", framework " + std::string(resolved.framework->name));
  }
  if (const double share = recomputed_share(stages, resolved); share > 0) {
    list.push_back("recomputation takes " + percent(share) +
                   " of the kernels' time; it counts as backward, and not in MFU");
  }
  if (resolved.mean_length) {
    const bool reads_tokens = stages.step->tokens_per_sample > 0;
    list.emplace_back(reads_tokens ? "time is that of a batch of the longest samples"
                                   : "mean_length is ignored: the model reads no tokens");
  }
  if (!resolved.input_rate) list.push_back("input arrives in time (input_rate was not given)");
}

void list_warnings(const Stages& stages, const Resolved& resolved, StepDetail& detail) {
  if (!detail.memory.fits) {
    detail.warnings.push_back("does not fit into the memory of " + smallest_device(resolved).name +
                              ": time and cost hold only if it did");
  }
  if (stages.program.opaque_share > 0) {
    detail.warnings.push_back("operators that are not known take " +
                              percent(stages.program.opaque_share) +
                              " of the kernels' time; they are costed by their bytes");
  }
}

StepDetail detail_step(const Question& question) {
  const Stages& stages = stages_of(question);
  const Resolved& resolved = question.resolved();
  StepDetail detail;
  detail.model = stages.step->graph.name;
  detail.parameters = stages.step->parameters;
  detail.tokens_per_sample = stages.step->tokens_per_sample;
  detail.gemm_flops = stages.program.gemm_flops;
  detail.breakdown = break_down(stages);
  detail.phases = split_phases(stages);
  detail.communication = communication_time(stages);
  if (stages.pipeline.empty()) {
    detail.memory = report_memory(stages.bound, resolved);
  } else {
    const RankMemory most = most_memory(stages.pipeline, resolved);
    detail.memory = most.report;
    detail.assumptions.push_back("memory is that of stage " + std::to_string(most.stage) +
                                 ", which needs most");
  }
  detail.resources = report_resources(stages, resolved, detail.memory);
  detail.top_operators = top_operators(stages, resolved.passes, question.top_operators());
  detail.regime = regime_of(stages, resolved, detail.breakdown);
  trust_memory(resolved, detail.regime, detail.memory);
  for (const Transfer& transfer : stages.program.transfers) {
    detail.sent_bytes += transfer.traffic.worker_tx_bytes;
  }
  list_assumptions(stages, resolved, detail);
  list_warnings(stages, resolved, detail);
  Trust trust = trust_in(stages, resolved, detail.regime, shares_of(detail.breakdown));
  detail.step = trust.step;
  detail.inside = trust.warnings.empty();
  detail.step_warnings = std::move(trust.warnings);
  for (std::string& text : trust.assumptions) detail.assumptions.push_back(std::move(text));
  return detail;
}

Estimate memory_estimate(const Question& question) {
  const MemoryReport& memory = detail_of(question).memory;
  Estimate peak{memory.peak, memory.low, memory.high, {}};
  if (peak.low) peak.confidence = question.resolved().memory_intervals->confidence;
  return peak;
}

}  // namespace

const StepDetail& detail_of(const Question& question) {
  return question.shared<StepDetail>([&] { return detail_step(question); });
}

// The domain is that of the measured steps; for memory nothing else is known.
std::optional<Answer> OperatorEngine::answer(const Question& question) const {
  const StepDetail& detail = detail_of(question);
  Answer answer{name(), {}};
  answer.targets.push_back({"step_time_s", detail.step, detail.inside, kStepWhy});
  answer.targets.push_back(
      {"memory_bytes.peak", memory_estimate(question), detail.inside, kMemoryWhy});
  return answer;
}

}  // namespace foretrain::operators

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/make_report.h"

#include <algorithm>

#include "foretrain/operators/answer.h"
#include "foretrain/predict/detail/targets.h"

namespace foretrain {
namespace {

std::string describe_cluster(const hw::Cluster& cluster) {
  const std::vector<int> counts = hw::device_counts(cluster);
  std::string text;
  for (std::size_t d = 0; d < counts.size(); ++d) {
    text +=
        (text.empty() ? "" : " + ") + std::to_string(counts[d]) + " x " + cluster.devices[d].name;
  }
  if (cluster.nodes.size() > 1) text += " on " + std::to_string(cluster.nodes.size()) + " nodes";
  return text;
}

JobReport report_job(const operators::StepDetail& detail, const Resolved& resolved) {
  JobReport job;
  job.model = resolved.model.name();
  job.graph = detail.model;
  job.parameters = detail.parameters;
  job.cluster = describe_cluster(resolved.cluster);
  if (resolved.strategy.kind == Parallel::ParameterServer) {
    job.servers = std::string(resolved.strategy.asynchronous ? "asynchronous " : "") +
                  "parameter servers: " + std::to_string(resolved.strategy.servers);
  }
  job.mode = resolved.mode;
  job.precision = resolved.precision;
  job.framework = resolved.framework->name + " (" + resolved.framework->execution + ")";
  job.batch = resolved.batch;
  job.workers = resolved.workers;
  job.data_parallel = resolved.data_parallel;
  return job;
}

// What the operator engine says, until another one is chosen.
Report report_step(const operators::StepDetail& detail) {
  Report report;
  report.step_time_s = detail.step;
  report.breakdown = detail.breakdown;
  report.phases = detail.phases;
  report.communication = detail.communication;
  report.sent_bytes = detail.sent_bytes;
  report.memory = detail.memory;
  report.resources = detail.resources;
  report.top_operators = detail.top_operators;
  report.regime = detail.regime;
  report.warnings = detail.warnings;
  return report;
}

// What the engine says of its number after why it was chosen.
std::string explain(const Chosen& one) {
  if (one.target.why.empty()) return one.why;
  return one.why + "; " + std::string(one.target.why);
}

// Other engines' numbers in place of those of the operator engine, and where each comes from.
void apply(const std::vector<Chosen>& chosen, Report& report) {
  for (const char* number : {"step_time_s", "memory_bytes", "resources"}) {
    report.engines.push_back({number, "operators", std::string(kOnlyEngine)});
  }
  for (const Chosen& one : chosen) {
    for (const TargetName& target : target_names()) {
      if (target.name != one.target.name) continue;
      if (one.engine != "operators") target.set(report, target.which, one.target.estimate);
      for (EngineReport& engine : report.engines) {
        if (engine.number != target.group) continue;
        engine.engine = one.engine;
        engine.why = explain(one);
      }
    }
  }
  report.engine = report.engines.front().engine;
}

// The operator engine's where its step stands; and that the engine which was asked for is silent.
void warn(const std::vector<Chosen>& chosen, const operators::StepDetail& detail,
          std::string_view wanted, Report& report) {
  if (report.engine == "operators") {
    report.warnings.insert(report.warnings.end(), detail.step_warnings.begin(),
                           detail.step_warnings.end());
  }
  const bool told = wanted == "auto" || wanted == "operators" ||
                    std::any_of(chosen.begin(), chosen.end(),
                                [&](const Chosen& one) { return one.engine == wanted; });
  if (told || chosen.empty()) return;
  report.warnings.insert(report.warnings.begin(),
                         "all numbers are the operator engine's: " + chosen.front().why);
}

void report_throughput(const operators::StepDetail& detail, const Resolved& resolved,
                       Report& report) {
  const double workers = resolved.workers;
  const double step = report.step_time_s.value;
  report.samples_per_s = resolved.data_parallel * static_cast<double>(resolved.batch) / step;
  if (detail.tokens_per_sample > 0) {
    report.tokens_per_s = report.samples_per_s * detail.tokens_per_sample;
    report.tokens_per_s_per_device = *report.tokens_per_s / workers;
  }
  // MFU: peak of all devices together against the GEMMs of all workers.
  double peak = 0;
  const std::vector<int> counts = hw::device_counts(resolved.cluster);
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const hw::Device& device = resolved.cluster.devices[d];
    peak += counts[d] * hw::matrix_peak(device, resolved.precision).value_or(0);
  }
  // Model FLOPs utilization (MFU): without what is computed again.
  if (peak > 0) report.mfu = resolved.workers * detail.gemm_flops / step / peak;
}

}  // namespace

Report make_report(const std::vector<Chosen>& chosen, const Question& question) {
  const Resolved& resolved = question.resolved();
  const operators::StepDetail& detail = operators::detail_of(question);
  Report report = report_step(detail);
  report.job = report_job(detail, resolved);
  apply(chosen, report);
  warn(chosen, detail, resolved.engine, report);
  report_throughput(detail, resolved, report);
  report.assumptions = resolved.assumptions;
  report.assumptions.insert(report.assumptions.end(), detail.assumptions.begin(),
                            detail.assumptions.end());
  report_length(question, report);
  return report;
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/simulate_run.h"

#include <iostream>
#include <map>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/sched/uncertainty.h"

namespace foretrain::cli {
namespace {

constexpr std::size_t kHistory = 20'000;  // jobs that Gittins learns from

sched::Trace open_trace(const std::string& name) {
  if (name == "-") return sched::read_trace(std::cin, "standard input");
  return sched::read_trace(std::filesystem::path(name));
}

int choose(const std::string& option, const std::string& value,
           const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == value) return static_cast<int>(i);
  }
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::BadInput,
              option + " is one of " + all + ", not '" + printable(value) + "'");
}

// "v100" becomes what the catalog calls it; a name that it does not know stays as it is.
void use_full_names(sched::Trace& trace, const hw::Catalog& catalog) {
  std::map<std::string, std::string> names;
  for (sched::Job& job : trace.jobs) {
    if (job.device.empty()) continue;
    const auto [known, added] = names.try_emplace(job.device, job.device);
    if (added) {
      try {
        known->second = hw::find_device(catalog, job.device, nullptr).name;
      } catch (const Error&) {
        continue;  // a device of the cluster file's own
      }
    }
    job.device = known->second;
  }
}

EngineDurations::Rules rules_of(const SimulateOptions& options) {
  EngineDurations::Rules rules;
  rules.happens = static_cast<EngineDurations::Happens>(
      choose("--durations", options.durations, {"trace", "placed", "engine"}));
  rules.told_exactly = choose("--predictions", options.predictions, {"exact", "engine"}) == 0;
  return rules;
}

}  // namespace

SimulateRun::SimulateRun(const SimulateOptions& options, const Library& library)
    : options_(options),
      cluster_(read_simulated_cluster(options.cluster, library.catalog)),
      engine_(cluster_, library, rules_of(options)) {
  if (sched::names_workload(options.trace)) {
    workload_ = sched::parse_workload(options.trace);
  } else {
    trace_ = open_trace(options.trace);
    use_full_names(trace_, library.catalog);
  }
}

std::int64_t SimulateRun::jobs_in_all() const {
  return workload_ ? workload_->jobs : static_cast<std::int64_t>(trace_.jobs.size());
}

sched::JobSource SimulateRun::jobs(std::uint64_t seed) const {
  if (workload_) {
    sched::Workload workload = *workload_;
    workload.seed += seed;
    return sched::generate(workload, cluster_.cluster);
  }
  return [this, next = std::size_t{0}](sched::Job& job) mutable {
    if (next == trace_.jobs.size()) return false;
    job = trace_.jobs[next++];
    return true;
  };
}

sched::Durations SimulateRun::durations(std::uint64_t seed) {
  sched::Durations result = std::ref(engine_);
  if (options_.draw) result = sched::drawn_from_interval(std::move(result), seed);
  if (options_.prediction_error) {
    result = sched::with_error(std::move(result), *options_.prediction_error, seed);
  }
  return result;
}

sched::PolicyOptions SimulateRun::policy_options() const {
  sched::PolicyOptions result;
  result.limits = options_.limits;
  result.round = Seconds{options_.round_s};
  sched::Job job;
  const sched::JobSource source = jobs(options_.seed);
  while (result.history.size() < kHistory && source(job)) {
    if (job.duration) result.history.push_back(job.duration->count() * job.devices);
  }
  return result;
}

SimulationReport SimulateRun::run(const std::string& policy, std::uint64_t seed,
                                  const sched::Watch& watch) {
  const sched::Policy chosen = sched::find_policy(policy).make(policy_options());
  sched::Options settings;
  settings.place = sched::find_placement(options_.placement).place;
  settings.costs = {Seconds{options_.restart_s}, Seconds{options_.checkpoint_s}};
  settings.node_mtbf = Seconds{options_.mtbf_s};
  settings.repair = Seconds{options_.repair_s};
  settings.seed = seed;
  settings.drop_unfit = options_.drop_unfit;
  SimulationReport report{policy, options_.placement, seed, {}, cluster_.assumptions};
  report.assumptions.insert(report.assumptions.end(), trace_.notes.begin(), trace_.notes.end());
  report.summary =
      sched::simulate(jobs(seed), cluster_.cluster, chosen, durations(seed), settings, watch);
  if (report.summary.dropped > 0) {
    report.assumptions.push_back(std::to_string(report.summary.dropped) +
                                 " jobs left out: the cluster cannot hold them");
  }
  return report;
}

}  // namespace foretrain::cli

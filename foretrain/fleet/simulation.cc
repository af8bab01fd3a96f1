// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulation.h"

#include <map>
#include <sstream>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/fleet/chart_svg.h"
#include "foretrain/fleet/simulation_rows.h"
#include "foretrain/sched/uncertainty.h"

namespace foretrain::fleet {
namespace {

constexpr std::size_t kHistory = 20'000;  // jobs that Gittins learns from

sched::JobTrace open_trace(const SimulationRequest& request) {
  if (!request.trace_text) return sched::read_job_trace(std::filesystem::path(request.trace));
  std::istringstream text(*request.trace_text);
  return sched::read_job_trace(text, request.trace);
}

int choose(const std::string& field, const std::string& value,
           const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == value) return static_cast<int>(i);
  }
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::BadInput,
              field + " is one of " + all + ", not '" + printable(value) + "'");
}

// "v100" becomes what the catalog calls it; a name that it does not know stays as it is.
void use_full_names(sched::JobTrace& trace, const hw::Catalog& catalog) {
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

EngineDurations::Rules rules_of(const SimulationRequest& request) {
  EngineDurations::Rules rules;
  rules.happens = static_cast<EngineDurations::Happens>(
      choose("durations", request.durations, {"trace", "placed", "engine"}));
  rules.told_exactly = choose("predictions", request.predictions, {"exact", "engine"}) == 0;
  return rules;
}

const SimulationRequest& checked(const SimulationRequest& request) {
  check(request);
  return request;
}

}  // namespace

Simulation::Simulation(const SimulationRequest& request, const Library& library)
    : request_(checked(request)),
      cluster_(read_simulated_cluster(request.cluster, library.catalog)),
      engine_(cluster_, library, rules_of(request)) {
  if (!request.trace_text && sched::names_workload(request.trace)) {
    workload_ = sched::parse_workload(request.trace);
  } else {
    trace_ = open_trace(request);
    use_full_names(trace_, library.catalog);
  }
}

std::int64_t Simulation::jobs_in_all() const {
  return workload_ ? workload_->jobs : static_cast<std::int64_t>(trace_.jobs.size());
}

sched::JobSource Simulation::jobs(std::uint64_t seed) const {
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

sched::Durations Simulation::durations(std::uint64_t seed) {
  sched::Durations result = std::ref(engine_);
  if (request_.draw_durations) result = sched::drawn_from_interval(std::move(result), seed);
  if (request_.prediction_error) {
    result = sched::with_error(std::move(result), *request_.prediction_error, seed);
  }
  return result;
}

sched::PolicyOptions Simulation::policy_options() const {
  sched::PolicyOptions result;
  result.limits = request_.limits_s;
  result.round = Seconds{request_.round_s};
  sched::Job job;
  const sched::JobSource source = jobs(request_.seed);
  while (result.history.size() < kHistory && source(job)) {
    if (job.duration) result.history.push_back(job.duration->count() * job.devices);
  }
  return result;
}

SimulationReport Simulation::run(const std::string& policy, std::uint64_t seed,
                                 const sched::Watch& watch) {
  const sched::Policy chosen = sched::find_policy(policy).make(policy_options());
  sched::Options options;
  options.place = sched::find_placement(request_.placement).place;
  options.costs = {Seconds{request_.restart_cost_s}, Seconds{request_.checkpoint_interval_s}};
  options.node_mtbf = Seconds{request_.mtbf_s};
  options.repair = Seconds{request_.repair_s};
  options.seed = seed;
  options.drop_unfit = request_.drop_unfit;
  SimulationReport report{policy, request_.placement, seed, {}, cluster_.assumptions};
  report.assumptions.insert(report.assumptions.end(), trace_.notes.begin(), trace_.notes.end());
  report.summary =
      sched::simulate(jobs(seed), cluster_.cluster, chosen, durations(seed), options, watch);
  if (report.summary.dropped > 0) {
    report.assumptions.push_back(std::to_string(report.summary.dropped) +
                                 " jobs left out: the cluster cannot hold them");
  }
  return report;
}

std::vector<SweptRun> Simulation::runs_of(const SimulationRequest& request) {
  const std::vector<std::string> policies =
      request.sweep.empty() ? std::vector{request.policy} : request.sweep;
  std::vector<SweptRun> runs;
  for (const std::string& policy : policies) {
    for (int i = 0; i < request.seeds; ++i) {
      runs.push_back({policy, request.seed + static_cast<std::uint64_t>(i)});
    }
  }
  return runs;
}

std::vector<SimulationReport> Simulation::run_all() {
  const std::vector<SweptRun> runs = runs_of(request_);
  std::vector<SimulationReport> reports(runs.size());
  parallel_for(runs.size(), request_.threads,
               [&](std::size_t i) { reports[i] = run(runs[i].policy, runs[i].seed); });
  return reports;
}

std::string simulate_json(const SimulationRequest& request, const Library& library) {
  Simulation simulation(request, library);
  if (is_sweep(request)) return to_json(simulation.run_all());
  std::vector<JobTimes> jobs;
  ChartRecorder chart(simulation.devices());
  sched::Watch watch;
  if (request.per_job) {
    watch.on_ended = [&](const sched::Active& ended, Seconds now) {
      jobs.push_back(job_times(ended, now));
    };
  }
  if (request.chart || request.svg) {
    watch.observer.on_event = [&](sched::Happening what, Seconds now, const sched::Active* active,
                                  int /*node*/) { chart.add(what, now, active); };
  }
  std::string text = to_json(simulation.run(request.policy, request.seed, watch));
  text.pop_back();  // the brace at its end
  if (request.per_job) text += ",\"per_job\":" + to_json(jobs);
  if (request.chart) text += ",\"chart\":" + to_json(chart.chart());
  if (request.svg) text += ",\"svg\":" + json_text(Json(chart_svg(chart.chart(), request.policy)));
  return text + "}";
}

}  // namespace foretrain::fleet

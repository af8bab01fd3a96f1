// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "foretrain/fleet/simulated_cluster.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/predict/report.h"
#include "foretrain/sched/job.h"

namespace foretrain::fleet {

// How long the jobs of a trace take, by their durations and by what the engine says about their
// requests, each request predicted once. Many threads may ask.
class EngineDurations {
 public:
  // What happens to a job that has both a duration and a request; one that has only one of them
  // goes by that.
  enum class Happens {
    Traced,  // the duration, wherever it runs
    Placed,  // the duration, stretched by predicted(here) / predicted(on the fewest nodes of the
             // first type that it may have)
    Engine,  // what the engine predicts
  };
  struct Rules {
    Happens happens = Happens::Traced;
    bool told_exactly = true;  // policies are told what happens; false: what the engine predicts
  };

  // Keeps references.
  EngineDurations(const SimulatedCluster& cluster, const Library& library, const Rules& rules)
      : cluster_(cluster), library_(library), rules_(rules) {}

  // Throws Error that names the job where its request cannot be answered.
  sched::Timing operator()(const sched::Job& job, const sched::Allocation& where);

 private:
  // A request without its number of steps, so that jobs that differ only there share an answer.
  struct AskedStep {
    std::string request;
    std::optional<double> steps;
  };
  struct PredictedStep {
    Estimate step;
    std::optional<Estimate> total;
    double network_bytes_per_s = 0;
    double network_share = 0;
  };
  static AskedStep asked_step(const sched::Job& job);
  PredictedStep ask(const sched::Job& job, const sched::Allocation& where);
  std::optional<PredictedStep> recall(const std::string& key);
  PredictedStep predict_answer(const std::string& text, const sched::Allocation& where) const;
  sched::Allocation reference(const sched::Job& job) const;

  const SimulatedCluster& cluster_;
  const Library& library_;
  Rules rules_;
  std::mutex mutex_;
  std::unordered_map<std::string, PredictedStep> answers_;
};

}  // namespace foretrain::fleet

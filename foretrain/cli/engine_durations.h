// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "foretrain/cli/simulate_cluster.h"
#include "foretrain/predict/library.h"
#include "foretrain/sched/job.h"

namespace foretrain::cli {

// How long the jobs of a trace take, by their durations and by what the engine says about their
// requests, each question asked once. Many threads may ask.
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
  struct Answer {
    Seconds step{0};
    std::optional<Seconds> total;
    std::optional<Seconds> low;  // of the total, where the engine has an interval
    std::optional<Seconds> high;
    double network_bytes_per_s = 0;
    double network_share = 0;
  };
  Seconds total_of(const sched::Job& job, const Answer& answer) const;
  const Answer& ask(const sched::Job& job, const sched::Allocation& where);
  Answer predict_answer(const sched::Job& job, const sched::Allocation& where) const;
  sched::Allocation reference(const sched::Job& job) const;

  const SimulatedCluster& cluster_;
  const Library& library_;
  Rules rules_;
  std::mutex mutex_;
  std::unordered_map<std::string, Answer> answers_;
};

}  // namespace foretrain::cli

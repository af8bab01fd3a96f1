// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::sched {

const std::vector<PolicyEntry>& policies() {
  static const std::vector<PolicyEntry> table = {
      {"fifo", "first come, first served; the first blocks the rest", fifo},
      {"backfill", "first come, first served among those that fit", backfill},
      {"fewest-gpus", "fewest devices first, preemptive", fewest_devices},
      {"sjf", "shortest predicted job first", shortest_job},
      {"srtf", "shortest predicted remaining time first, preemptive", shortest_rest},
      {"srgt", "smallest predicted remaining device time first, preemptive", smallest_rest},
      {"priority", "highest priority first, preemptive", priority},
      {"deadline", "earliest deadline first, preemptive", deadline},
      {"dlas", "Tiresias: least attained time in levels, preemptive", least_attained_time},
      {"dlas-gpu", "Tiresias: least attained device time in levels (2D-LAS), preemptive",
       least_attained_service},
      {"gittins", "Tiresias: highest Gittins index of attained device time first, preemptive",
       gittins},
      {"easy", "first come, first served with a reservation for the first; others go around it",
       easy},
      {"fair-share", "who holds the fewest devices is served next", fair_share},
      {"max-min", "Gavel: max-min fairness on mixed devices, in rounds", max_min_fairness},
      {"lpjf", "as fifo, but who is behind a job that starts is passed over", longest_pending},
      // The Tiresias simulator's names, where they differ.
      {"tiresias", "dlas-gpu", least_attained_service},
      {"gavel", "max-min", max_min_fairness},
      {"fjf", "backfill", backfill},
      {"shortest", "srtf", shortest_rest},
      {"shortest-gpu", "srgt", smallest_rest},
      {"tiresias-sjf", "fewest-gpus", fewest_devices},
  };
  return table;
}

const PolicyEntry& find_policy(std::string_view name) {
  std::vector<std::string> known;
  for (const PolicyEntry& entry : policies()) {
    if (entry.name == name) return entry;
    known.emplace_back(entry.name);
  }
  throw Error(ErrorKind::NotFound, "no policy is called '" + printable(name) + "'" +
                                       did_you_mean(name, known) +
                                       "; foretrain simulate --help lists them");
}

}  // namespace foretrain::sched

// SPDX-License-Identifier: Apache-2.0
// Whatever a job trace says: it is refused with an Error, or its jobs run to their ends.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/sched/job_trace.h"
#include "foretrain/sched/simulate.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

hw::Cluster small_cluster() {
  hw::Cluster cluster;
  cluster.links.push_back({.name = "link", .bytes_per_s = 1e9});
  cluster.devices.push_back({.name = "t4"});
  for (int node = 0; node < 4; ++node) cluster.nodes.push_back({0, 4, 0, 0, node / 2});
  return cluster;
}

sched::Timing timing_of(const sched::Job& job, const sched::Allocation& where) {
  if (job.duration) return sched::traced_duration(job, where);
  return {Seconds{1}, Seconds{1}, Seconds{1}, Seconds{1}, 0, 0};
}

void run(const std::string& text) {
  std::istringstream in(text);
  const sched::JobTrace trace = sched::read_job_trace(in, "fuzz");
  const hw::Cluster cluster = small_cluster();
  // Rounds and failures of long jobs take seconds until the bound of events; tests look at that.
  Seconds all{0};
  for (const sched::Job& job : trace.jobs) all += job.duration.value_or(Seconds{1});
  const bool brief = all < Seconds{1e6};
  std::vector<const char*> policies{"fifo", "srtf", "dlas-gpu", "easy"};
  if (brief) policies.push_back("max-min");
  for (const char* policy : policies) {
    std::size_t next = 0;
    const sched::JobSource source = [&](sched::Job& job) {
      if (next == trace.jobs.size()) return false;
      job = trace.jobs[next++];
      return true;
    };
    sched::Options options;
    options.drop_unfit = true;
    options.costs = {Seconds{10}, Seconds{100}};
    options.node_mtbf = Seconds{brief ? 1e4 : 0};
    const sched::Summary summary =
        sched::simulate(source, cluster, sched::find_policy(policy).make({}), timing_of, options);
    if (summary.completed + summary.dropped != summary.jobs) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run({reinterpret_cast<const char*>(data), size});
  } catch (const foretrain::Error&) {
    return 0;
  }
  return 0;
}

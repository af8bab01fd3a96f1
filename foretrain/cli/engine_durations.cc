// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/engine_durations.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/predict/predict.h"
#include "foretrain/sched/simulate.h"

namespace foretrain::cli {

sched::Timing EngineDurations::operator()(const sched::Job& job, const sched::Allocation& where) {
  const bool traced = job.duration && rules_.happens == Happens::Traced;
  if (job.request.empty() || (traced && rules_.told_exactly)) {
    return sched::traced_duration(job, where);
  }
  const Answer& here = ask(job, where);
  sched::Timing timing;
  if (traced) {
    timing.actual = *job.duration;
  } else if (job.duration && rules_.happens == Happens::Placed) {
    timing.actual = *job.duration * (here.step / ask(job, reference(job)).step);
  } else {
    timing.actual = total_of(job, here);
  }
  timing.predicted = rules_.told_exactly ? timing.actual : here.total.value_or(timing.actual);
  timing.low = here.low.value_or(timing.actual);
  timing.high = here.high.value_or(timing.actual);
  if (traced) return timing;
  timing.network_bytes_per_s = here.network_bytes_per_s;
  timing.network_share = here.network_share;
  return timing;
}

Seconds EngineDurations::total_of(const sched::Job& job, const Answer& answer) const {
  if (answer.total) return *answer.total;
  throw Error(ErrorKind::BadInput, "job '" + printable(job.name) +
                                       "': its request has no length; add steps, epochs or "
                                       "tokens, or give the job a duration");
}

// The first nodes of the cluster that could hold the job, for the device that it asks for.
sched::Allocation EngineDurations::reference(const sched::Job& job) const {
  const hw::Cluster& cluster = cluster_.cluster;
  sched::Allocation result;
  int left = job.devices;
  int type = -1;
  for (std::size_t i = 0; i < cluster.nodes.size() && left > 0; ++i) {
    const hw::Node& node = cluster.nodes[i];
    const hw::Device& device = cluster.devices[static_cast<std::size_t>(node.device)];
    if (type < 0 && (job.device.empty() || job.device == device.name)) type = node.device;
    if (node.device != type) continue;
    result.shares.push_back({static_cast<int>(i), std::min(left, node.devices)});
    left -= result.shares.back().devices;
  }
  return result;
}

// Nodes that are described alike are alike; so are the same shares in another order.
const EngineDurations::Answer& EngineDurations::ask(const sched::Job& job,
                                                    const sched::Allocation& where) {
  sched::Allocation sorted = where;
  const auto entry = [&](const sched::Share& share) {
    return cluster_.entry_of[static_cast<std::size_t>(share.node)];
  };
  std::sort(sorted.shares.begin(), sorted.shares.end(),
            [&](const sched::Share& a, const sched::Share& b) {
              return std::make_pair(entry(a), -a.devices) < std::make_pair(entry(b), -b.devices);
            });
  std::string key = job.request;
  for (const sched::Share& share : sorted.shares) {
    key += " " + std::to_string(entry(share)) + ":" + std::to_string(share.devices);
  }
  const std::lock_guard lock(mutex_);
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(key, predict_answer(job, sorted)).first->second;
}

EngineDurations::Answer EngineDurations::predict_answer(const sched::Job& job,
                                                        const sched::Allocation& where) const {
  try {
    Request request = parse_request(job.request, "request");
    request.cluster = Described{cluster_json(cluster_, where), true};
    const Stages stages = run_stages(request, library_);
    const Report report = summarise(stages, request, library_);
    Answer answer;
    answer.step = Seconds{report.step_time_s.value};
    if (report.total_time_s) {
      answer.total = Seconds{report.total_time_s->value};
      if (report.total_time_s->low) answer.low = Seconds{*report.total_time_s->low};
      if (report.total_time_s->high) answer.high = Seconds{*report.total_time_s->high};
    }
    double sent_bytes = 0;
    for (const Transfer& transfer : stages.job.transfers) sent_bytes += transfer.worker_tx_bytes;
    answer.network_bytes_per_s = sent_bytes / answer.step.count();
    answer.network_share = report.breakdown.exposed_communication / answer.step;
    return answer;
  } catch (const Error& error) {
    throw Error(error.kind(), "job '" + printable(job.name) + "': " + error.what());
  }
}

}  // namespace foretrain::cli

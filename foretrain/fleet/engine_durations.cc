// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/engine_durations.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/fleet/simulation_request.h"
#include "foretrain/predict/predict.h"
#include "foretrain/request/request.h"
#include "foretrain/sched/simulate.h"

namespace foretrain::fleet {

namespace {

Estimate times(const Estimate& estimate, double factor) {
  Estimate result = estimate;
  result.value *= factor;
  if (result.low) *result.low *= factor;
  if (result.high) *result.high *= factor;
  return result;
}

// As for a trace's own durations.
void check_length(const sched::Job& job, double duration_s) {
  if (duration_s <= kLongestTime) return;  // not so for NaN
  throw Error(ErrorKind::BadInput, "job '" + printable(job.name) +
                                       "': it is predicted to last longer than 1e12 s; check its "
                                       "request");
}

}  // namespace

sched::Timing EngineDurations::operator()(const sched::Job& job, const sched::Allocation& where) {
  const bool traced = job.duration && rules_.happens == Happens::Traced;
  if (job.request.empty() || (traced && rules_.told_exactly)) {
    return sched::traced_duration(job, where);
  }
  const PredictedStep here = ask(job, where);
  sched::Timing timing;
  if (traced) {
    timing.actual = *job.duration;
  } else if (job.duration && rules_.happens == Happens::Placed) {
    const double slower = here.step.value / ask(job, reference(job)).step.value;
    timing.actual = *job.duration * slower;
    check_length(job, timing.actual.count());
  } else if (here.total) {
    timing.actual = Seconds{here.total->value};
  } else {
    throw Error(ErrorKind::BadInput, "job '" + printable(job.name) +
                                         "': its request has no length; add steps, epochs or "
                                         "tokens, or give the job a duration");
  }
  const Estimate total = here.total.value_or(Estimate{timing.actual.count(), {}, {}, {}});
  timing.predicted = rules_.told_exactly ? timing.actual : Seconds{total.value};
  timing.low = Seconds{total.low.value_or(timing.actual.count())};
  timing.high = Seconds{total.high.value_or(timing.actual.count())};
  if (traced) return timing;
  timing.network_bytes_per_s = here.network_bytes_per_s;
  timing.network_share = here.network_share;
  return timing;
}

// The fewest nodes, by number, of the first type that the job may have and that can hold it.
sched::Allocation EngineDurations::reference(const sched::Job& job) const {
  const hw::Cluster& cluster = cluster_.cluster;
  for (std::size_t type = 0; type < cluster.devices.size(); ++type) {
    if (!job.device.empty() && job.device != cluster.devices[type].name) continue;
    sched::Allocation result;
    int left = job.devices;
    for (std::size_t i = 0; i < cluster.nodes.size() && left > 0; ++i) {
      const hw::Node& node = cluster.nodes[i];
      if (node.device != static_cast<int>(type)) continue;
      result.shares.push_back({static_cast<int>(i), std::min(left, node.devices)});
      left -= result.shares.back().devices;
    }
    if (left == 0) return result;
  }
  throw Error(ErrorKind::BadInput, "job '" + printable(job.name) + "' fits no type of device");
}

EngineDurations::AskedStep EngineDurations::asked_step(const sched::Job& job) {
  Json request = Json::parse(job.request, nullptr, false);
  if (!request.is_object()) return {job.request, {}};
  for (const char* length : {"epochs", "samples", "tokens", "dataset"}) {
    if (request.contains(length)) return {job.request, {}};
  }
  const auto steps = request.find("steps");
  if (steps == request.end() || !steps->is_number() || steps->get<double>() <= 0) {
    return {job.request, {}};
  }
  const double count = steps->get<double>();
  request.erase(steps);
  return {json_text(request), count};
}

// Nodes that are described alike are alike; so are the same shares in another order.
EngineDurations::PredictedStep EngineDurations::ask(const sched::Job& job,
                                                    const sched::Allocation& where) {
  sched::Allocation sorted = where;
  const auto entry = [&](const sched::Share& share) {
    return cluster_.entry_of[static_cast<std::size_t>(share.node)];
  };
  std::sort(sorted.shares.begin(), sorted.shares.end(),
            [&](const sched::Share& a, const sched::Share& b) {
              return std::make_pair(entry(a), -a.devices) < std::make_pair(entry(b), -b.devices);
            });
  const AskedStep question = asked_step(job);
  std::string key = question.request;
  for (const sched::Share& share : sorted.shares) {
    key += " " + std::to_string(entry(share)) + ":" + std::to_string(share.devices);
  }
  PredictedStep answer;
  if (const std::optional<PredictedStep> known = recall(key)) {
    answer = *known;
  } else {
    try {
      answer = predict_answer(question.request, sorted);
    } catch (const Error& error) {
      throw Error(error.kind(), "job '" + printable(job.name) + "': " + error.what());
    }
    const std::lock_guard lock(mutex_);
    answers_.emplace(key, answer);
  }
  if (question.steps) answer.total = times(answer.step, *question.steps);
  if (answer.total) check_length(job, answer.total->value);
  return answer;
}

std::optional<EngineDurations::PredictedStep> EngineDurations::recall(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto known = answers_.find(key);
  if (known == answers_.end()) return std::nullopt;
  return known->second;
}

EngineDurations::PredictedStep EngineDurations::predict_answer(
    const std::string& text, const sched::Allocation& where) const {
  Request request = parse_request(text, "request");
  request.cluster = Described{cluster_json(cluster_, where), true};
  const Report report = predict(request, library_);
  PredictedStep answer;
  answer.step = report.step_time_s;
  answer.total = report.total_time_s;
  answer.network_bytes_per_s = report.sent_bytes / answer.step.value;
  answer.network_share = report.breakdown.exposed_communication.count() / answer.step.value;
  return answer;
}

}  // namespace foretrain::fleet

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulation_rows.h"

#include "foretrain/base/csv.h"
#include "foretrain/base/json.h"

namespace foretrain::fleet {
namespace {

template <typename Value>
OrderedJson column(const std::vector<JobTimes>& times, Value value) {
  OrderedJson list = OrderedJson::array();
  for (const JobTimes& one : times) list.push_back(value(one));
  return list;
}

}  // namespace

JobTimes job_times(const sched::Active& ended, Seconds now) {
  const sched::Job& job = ended.job;
  const Seconds jct = now - job.submit;
  return {.job = job.name,
          .submit = job.submit,
          .start = *ended.first_start,
          .end = now,
          .devices = job.devices,
          .queue = jct - ended.ran,
          .jct = jct,
          .preemptions = ended.preemptions};
}

std::string jobs_header() {
  return "job,submit_s,start_s,end_s,devices,queue_s,jct_s,preemptions\n";
}

std::string jobs_line(const JobTimes& times) {
  return csv_line(times.job, times.submit.count(), times.start.count(), times.end.count(),
                  times.devices, times.queue.count(), times.jct.count(), times.preemptions);
}

std::string to_json(const std::vector<JobTimes>& times) {
  using Times = const JobTimes&;
  OrderedJson json;
  json["job"] = column(times, [](Times t) { return t.job; });
  json["submit_s"] = column(times, [](Times t) { return t.submit.count(); });
  json["start_s"] = column(times, [](Times t) { return t.start.count(); });
  json["end_s"] = column(times, [](Times t) { return t.end.count(); });
  json["devices"] = column(times, [](Times t) { return t.devices; });
  json["queue_s"] = column(times, [](Times t) { return t.queue.count(); });
  json["jct_s"] = column(times, [](Times t) { return t.jct.count(); });
  json["preemptions"] = column(times, [](Times t) { return t.preemptions; });
  return json_text(json);
}

std::string events_header() { return "time_s,event,job,nodes\n"; }

std::string events_line(sched::Happening what, Seconds now, const sched::Active* active, int node) {
  if (active == nullptr) return csv_line(now.count(), to_string(what), "", node);
  std::string nodes;
  if (what != sched::Happening::Submit) {
    for (const sched::Share& share : active->where.shares) {
      nodes += (nodes.empty() ? "" : " ") + std::to_string(share.node) + ":" +
               std::to_string(share.devices);
    }
  }
  return csv_line(now.count(), to_string(what), active->job.name, nodes);
}

}  // namespace foretrain::fleet

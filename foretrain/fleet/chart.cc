// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/chart.h"

#include <algorithm>

#include "foretrain/base/json.h"

namespace foretrain::fleet {

void ChartRecorder::advance(Seconds now) {
  while (now > width_ * kStretches) {  // twice as wide, two become one
    for (std::size_t i = 0; i < kStretches / 2; ++i) {
      stretches_[i] = {stretches_[2 * i].device_seconds + stretches_[2 * i + 1].device_seconds,
                       stretches_[2 * i].waiting_seconds + stretches_[2 * i + 1].waiting_seconds};
    }
    std::fill(stretches_.begin() + kStretches / 2, stretches_.end(), Stretch{});
    width_ *= 2;
  }
  while (now_ < now) {
    const auto index = std::min(static_cast<std::size_t>(now_ / width_), kStretches - 1);
    const Seconds edge = width_ * static_cast<double>(index + 1);
    const Seconds until = edge > now_ ? std::min(now, edge) : now;
    const double seconds = (until - now_).count();
    stretches_[index].device_seconds += held_ * seconds;
    stretches_[index].waiting_seconds += waiting_ * seconds;
    now_ = until;
  }
}

void ChartRecorder::add(sched::Happening what, Seconds now, const sched::Active* active) {
  advance(now);
  if (active == nullptr) return;
  const double devices = active->job.devices;
  switch (what) {
    case sched::Happening::Submit:
      waiting_ += 1;
      break;
    case sched::Happening::Start:
      waiting_ -= 1;
      held_ += devices;
      break;
    case sched::Happening::Stop:
    case sched::Happening::Fail:
      waiting_ += 1;
      held_ -= devices;
      break;
    case sched::Happening::End:
      held_ -= devices;
      break;
    case sched::Happening::NodeDown:
    case sched::Happening::NodeUp:
      break;
  }
  add_bar(what, now, *active);
}

void ChartRecorder::add_bar(sched::Happening what, Seconds now, const sched::Active& active) {
  const std::int64_t id = active.job.id;
  if (what == sched::Happening::Submit) {
    if (rows_.size() == kMostJobs) {
      all_jobs_ = false;
      return;
    }
    open_[id] = {static_cast<int>(rows_.size()), now, false};
    rows_.push_back({active.job.name, active.job.devices});
    return;
  }
  const auto open = open_.find(id);
  if (open == open_.end()) return;
  Open& job = open->second;
  if (now > job.since && bars_.size() < kMostBars) {
    bars_.push_back({job.row, job.since, now, job.running});
  }
  job.since = now;
  job.running = what == sched::Happening::Start;
  if (what == sched::Happening::End) open_.erase(open);
}

Chart ChartRecorder::chart() const {
  Chart chart;
  chart.devices = devices_;
  chart.stretch = width_;
  chart.rows = rows_;
  chart.bars = bars_;
  chart.all_jobs = all_jobs_;
  const double width = width_.count();
  const auto shown = static_cast<std::size_t>(now_ / width_) + 1;
  for (std::size_t i = 0; i < std::min(shown, kStretches); ++i) {
    chart.devices_in_use.push_back(stretches_[i].device_seconds / width);
    chart.jobs_waiting.push_back(stretches_[i].waiting_seconds / width);
    chart.most_waiting = std::max(chart.most_waiting, chart.jobs_waiting.back());
  }
  return chart;
}

std::string to_json(const Chart& chart) {
  OrderedJson json{{"devices", chart.devices},
                   {"stretch_s", chart.stretch.count()},
                   {"devices_in_use", chart.devices_in_use},
                   {"jobs_waiting", chart.jobs_waiting},
                   {"all_jobs", chart.all_jobs},
                   {"rows", OrderedJson::array()},
                   {"bars", OrderedJson::array()}};
  for (const Chart::Row& row : chart.rows) {
    json["rows"].push_back(OrderedJson{{"job", row.job}, {"devices", row.devices}});
  }
  for (const Chart::Bar& bar : chart.bars) {
    json["bars"].push_back(OrderedJson{{"row", bar.row},
                                       {"begin_s", bar.begin.count()},
                                       {"end_s", bar.end.count()},
                                       {"running", bar.running}});
  }
  return json_text(json);
}

}  // namespace foretrain::fleet

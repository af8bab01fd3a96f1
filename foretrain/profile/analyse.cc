// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/analyse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "foretrain/base/json_writer.h"
#include "foretrain/profile/detail/period.h"

namespace foretrain::profile {
namespace {

// As the lab found repeatable: docs/profile.md.
constexpr Seconds kDeviceSmoothing{0.03};
constexpr Seconds kTransferSmoothing{0.05};
constexpr double kLeastRate = 125e3;  // bytes per second: 1 Mb/s
constexpr double kTrustedPeriods =
    3;  // a duration below so many refreshes of its source is doubtful

Seconds smoothing_of(const RecordingColumn& column) {
  if (column.unit == "B/s") return kTransferSmoothing;
  return column.name == "gpu_util" || column.name == "cpu_util" ? kDeviceSmoothing : Seconds{0};
}

double scale_of(const RecordingColumn& column) {
  if (column.scale) return *column.scale;
  if (column.unit == "%") return 100;
  double highest = column.unit == "B/s" ? kLeastRate : 0;
  for (const double sample : column.samples) {
    if (std::isfinite(sample)) highest = std::max(highest, sample);
  }
  return highest > 0 ? highest : 1;
}

double mean_of(const std::vector<double>& samples) {
  double sum = 0;
  double count = 0;
  for (const double sample : samples) {
    if (!std::isfinite(sample)) continue;
    sum += sample;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

void note_doubts(const RecordingColumn& column, const resource::Bursts& bursts, Profile& profile) {
  const Seconds trusted = kTrustedPeriods * column.refresh;
  const auto is_short = [&](const std::optional<Seconds>& time) { return time && *time < trusted; };
  if (is_short(bursts.burst) || is_short(bursts.idle)) {
    profile.notes.push_back(column.name + ": its source has a new value only every " +
                            std::to_string(std::lround(column.refresh.count() * 1e3)) +
                            " ms; durations below three of these are not to be trusted");
  }
}

void find_iteration(const Recording& recording, Profile& profile) {
  for (const char* name : {"net_tx", "gpu_util", "net_rx", "cpu_util"}) {
    const RecordingColumn* column = find_column(recording, name);
    if (column == nullptr) continue;
    const bool alternates = std::any_of(
        profile.resources.begin(), profile.resources.end(), [&](const ResourceUse& use) {
          return use.name == name && use.bursts.pattern == resource::Pattern::BIB;
        });
    if (!alternates) continue;
    profile.period = find_period(column->samples, recording.window);
    profile.period_of = name;
    if (profile.period) return;
  }
  profile.period_of.clear();
}

void write(JsonWriter& json, const ResourceUse& use) {
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->count()) : std::nullopt;
  };
  const resource::Bursts& bursts = use.bursts;
  json.begin_object().field("pattern", resource::to_string(bursts.pattern));
  json.field("burst_amount", bursts.burst_amount).field("idle_amount", bursts.idle_amount);
  json.field("burst_s", seconds(bursts.burst)).field("idle_s", seconds(bursts.idle));
  json.field("unit", use.unit).field("mean", use.mean).key("spread").begin_object();
  json.field("burst_amount", bursts.burst_amount_sd).field("idle_amount", bursts.idle_amount_sd);
  json.field("burst_s", seconds(bursts.burst_sd)).field("idle_s", seconds(bursts.idle_sd));
  json.end_object().end_object();
}

}  // namespace

Profile analyse(const Recording& recording) {
  Profile profile;
  profile.window = recording.window;
  profile.duration = static_cast<double>(length_of(recording)) * recording.window;
  profile.notes = recording.notes;
  for (const RecordingColumn& column : recording.columns) {
    resource::SplitOptions options;
    options.window = recording.window;
    options.smoothing = options.shortest_run = smoothing_of(column);
    options.scale = scale_of(column);
    const auto bursts = resource::split_bursts(column.samples, options);
    if (!bursts) continue;
    profile.resources.push_back({column.name, column.unit, mean_of(column.samples), *bursts});
    note_doubts(column, *bursts, profile);
  }
  find_iteration(recording, profile);
  return profile;
}

std::string to_json(const Profile& profile) {
  // What the report always has, measured or not; then the rest.
  constexpr std::array<std::string_view, 5> kOfReport{"gpu_util", "gpu_memory_util", "net_tx",
                                                      "net_rx", "memory_used"};
  const auto is_of_report = [&](const std::string& name) {
    return std::find(kOfReport.begin(), kOfReport.end(), name) != kOfReport.end();
  };
  JsonWriter json;
  json.begin_object().field("window_s", profile.window.count()).key("worker").begin_object();
  for (const std::string_view name : kOfReport) {
    const auto use =
        std::find_if(profile.resources.begin(), profile.resources.end(),
                     [&](const ResourceUse& candidate) { return candidate.name == name; });
    json.key(name);
    use == profile.resources.end() ? void(json.null()) : write(json, *use);
  }
  for (const ResourceUse& use : profile.resources) {
    if (!is_of_report(use.name)) write(json.key(use.name), use);
  }
  json.end_object().key("server").null();
  json.field("duration_s", profile.duration.count());
  json.key("period_s")
      .value(profile.period ? std::optional(profile.period->count()) : std::nullopt);
  json.key("notes").begin_array();
  for (const std::string& note : profile.notes) json.value(note);
  json.end_array().end_object();
  return json.finish();
}

}  // namespace foretrain::profile

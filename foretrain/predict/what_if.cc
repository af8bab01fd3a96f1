// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/what_if.h"

#include <algorithm>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/operators/largest_batch.h"
#include "foretrain/predict/change.h"
#include "foretrain/predict/detail/request_changes.h"
#include "foretrain/predict/predict.h"
#include "foretrain/predict/vary.h"

namespace foretrain {
namespace {

constexpr int kMostSplits = 3;  // of those that only differ in degrees, the best

JobNumbers numbers_of(const Report& report) {
  JobNumbers numbers;
  numbers.step_time_s = report.step_time_s.value;
  numbers.sample_time_s = 1 / report.samples_per_s;
  if (report.total_time_s) numbers.total_time_s = report.total_time_s->value;
  if (report.cost_usd) numbers.cost_usd = report.cost_usd->value;
  numbers.peak_bytes = report.memory.peak;
  numbers.capacity_bytes = report.memory.capacity;
  numbers.fits = report.memory.fits;
  return numbers;
}

// The prediction of a change, whose request becomes one that says its batch; nothing where it is
// refused.
std::optional<JobNumbers> predicted(RequestChange& change, const Resolved& resolved,
                                    const Predict& predict) {
  try {
    if (change.request.largest_batch) {
      const std::int64_t most = predict(change.request).job.batch;
      change.request = with_batch(std::move(change.request), most, resolved);
    }
    return numbers_of(predict(change.request));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void write_optional(JsonWriter& json, const char* name, std::optional<double> value,
                    std::optional<double> before) {
  json.field(name, value && before ? std::optional(*before - *value) : std::nullopt);
}

void write_numbers(JsonWriter& json, const JobNumbers& numbers) {
  json.field("step_time_s", numbers.step_time_s).field("sample_time_s", numbers.sample_time_s);
  json.field("total_time_s", numbers.total_time_s).field("cost", numbers.cost_usd);
  json.field("peak_bytes", numbers.peak_bytes).field("capacity_bytes", numbers.capacity_bytes);
  json.field("fits", numbers.fits);
}

WhatIfs compare(const Request& request, const Resolved& resolved, const Predict& predict) {
  WhatIfs result;
  Request asked = request;
  if (asked.largest_batch) {
    asked.largest_batch = false;
    asked.batch = resolved.batch;
  }
  const Report report = predict(asked);
  result.request = to_json(asked);
  result.now = numbers_of(report);
  std::vector<std::pair<RequestChange, JobNumbers>> found;
  for (RequestChange& change : request_changes(asked, resolved, report)) {
    const std::optional<JobNumbers> then = predicted(change, resolved, predict);
    const bool known = !then || *then == result.now ||
                       std::any_of(found.begin(), found.end(), [&](const auto& one) {
                         return one.first.request == change.request;
                       });
    if (!known) found.emplace_back(std::move(change), *then);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.second.sample_time_s < b.second.sample_time_s;
  });
  int splits = 0;
  for (const auto& [change, then] : found) {
    if (change.split && ++splits > kMostSplits) continue;
    result.changes.push_back({change.what, change_options(asked, change.request),
                              changes_json(asked, change.request), to_json(change.request),
                              predict_command(change.request), then});
  }
  return result;
}

}  // namespace

WhatIfs what_if(const Request& request, const Library& library) {
  const Resolved resolved = resolve_job(request, library);
  if (!resolved.model.is_built_in()) {
    const auto model = std::make_shared<const graph::Graph>(resolved.model.graph());
    return what_if(request, model, library);
  }
  return compare(request, resolved, [&](const Request& one) { return predict(one, library); });
}

WhatIfs what_if(const Request& request, std::shared_ptr<const graph::Graph> model,
                const Library& library) {
  const Resolved resolved =
      operators::with_largest_batch(resolve(request, model, library), library);
  return compare(request, resolved,
                 [&](const Request& one) { return predict(one, model, library); });
}

std::string to_json(const WhatIfs& what_ifs) {
  const JobNumbers& now = what_ifs.now;
  JsonWriter json;
  json.begin_object().key("request").json(what_ifs.request).key("now").begin_object();
  write_numbers(json, now);
  json.end_object().key("what_if").begin_array();
  for (const WhatIf& one : what_ifs.changes) {
    const JobNumbers& then = one.then;
    json.begin_object().field("what", one.what).field("change", one.options);
    json.key("changes").json(one.changes);
    json.field("sample_time_gain_s", now.sample_time_s - then.sample_time_s);
    json.field("speedup", now.sample_time_s / then.sample_time_s);
    write_optional(json, "total_time_gain_s", then.total_time_s, now.total_time_s);
    write_optional(json, "cost_gain", then.cost_usd, now.cost_usd);
    json.field("peak_gain_bytes", now.peak_bytes - then.peak_bytes);
    write_numbers(json, then);
    json.key("request").json(one.request).field("command", one.command).end_object();
  }
  json.end_array().end_object();
  return json.finish();
}

}  // namespace foretrain

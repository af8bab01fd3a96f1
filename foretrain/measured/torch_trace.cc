// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/torch_trace.h"

#include <algorithm>
#include <iterator>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json.h"
#include "foretrain/base/median.h"
#include "foretrain/measured/collected_operators.h"
#include "foretrain/measured/detail/torch_events.h"

namespace foretrain::measured {
namespace {

constexpr std::uintmax_t kLargestFile = 512 << 20;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

// Calls lie inside one another. Of each the outermost known one around it, or itself; -1: none.
std::vector<int> owners_of(const std::vector<TorchCall>& calls) {
  std::vector<int> owners;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const TorchCall& call = calls[i];
    while (!open.empty() && (calls[open.back()].thread != call.thread ||
                             calls[open.back()].span.end_us <= call.span.begin_us)) {
      open.pop_back();
    }
    const int around = open.empty() ? -1 : owners[open.back()];
    owners.push_back(around < 0 && call.what >= 0 ? static_cast<int>(i) : around);
    open.push_back(i);
  }
  return owners;
}

// Of each call that owns itself; 0 for the others, and on a GPU where it launches nothing.
std::vector<double> times_us(const TorchEvents& events) {
  const std::vector<int> owners = owners_of(events.calls);
  std::vector<double> times(events.calls.size(), 0);
  if (events.kernels.empty()) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const TorchSpan& span = events.calls[i].span;
      if (owners[i] == static_cast<int>(i)) times[i] = span.end_us - span.begin_us;
    }
    return times;
  }
  std::unordered_map<std::int64_t, int> owner_by_id;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (events.calls[i].id != 0) owner_by_id.emplace(events.calls[i].id, owners[i]);
  }
  for (const TorchKernel& kernel : events.kernels) {
    const auto launch = events.launches.find(kernel.correlation);
    const std::int64_t launched_by = launch == events.launches.end() ? 0 : launch->second;
    const auto owner = owner_by_id.find(kernel.id != 0 ? kernel.id : launched_by);
    if (owner == owner_by_id.end() || owner->second < 0) continue;
    times[static_cast<std::size_t>(owner->second)] += kernel.span.end_us - kernel.span.begin_us;
  }
  return times;
}

struct NamedSpan {
  TorchSpan span;
  std::string name;
};

// Steps in which an operator begins, by time, the first left out.
std::vector<NamedSpan> steps_of(const TorchEvents& events) {
  std::vector<double> begins;
  for (const TorchCall& call : events.calls) begins.push_back(call.span.begin_us);
  std::sort(begins.begin(), begins.end());
  std::vector<NamedSpan> steps;
  for (const auto& [name, span] : events.host_steps) {
    const auto next = std::lower_bound(begins.begin(), begins.end(), span.begin_us);
    const bool empty = next == begins.end() || *next >= span.end_us;
    if (!empty || begins.empty()) steps.push_back({span, name});
  }
  std::sort(steps.begin(), steps.end(), [](const NamedSpan& a, const NamedSpan& b) {
    return a.span.begin_us < b.span.begin_us;
  });
  if (!steps.empty()) steps.erase(steps.begin());
  return steps;
}

bool inside(const std::vector<NamedSpan>& steps, double time_us) {
  const auto after = std::upper_bound(
      steps.begin(), steps.end(), time_us,
      [](double time, const NamedSpan& step) { return time < step.span.begin_us; });
  return after != steps.begin() && time_us < std::prev(after)->span.end_us;
}

const std::vector<std::string>& columns() {
  static const std::vector<std::string> kColumns{"machine", "kind",      "shapes", "attributes",
                                                 "dtype",   "direction", "time_s", "repeats"};
  return kColumns;
}

std::vector<Row> operators_of(const TorchEvents& events, const std::vector<NamedSpan>& steps) {
  const std::vector<double> times = times_us(events);
  std::vector<std::vector<double>> of_call(events.known.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const TorchCall& call = events.calls[i];
    const bool counts = events.host_steps.empty() || inside(steps, call.span.begin_us);
    if (times[i] > 0 && counts) of_call[static_cast<std::size_t>(call.what)].push_back(times[i]);
  }
  std::vector<Row> rows;
  for (const auto& [call, what] : events.known) {
    const std::vector<double>& found = of_call[static_cast<std::size_t>(what)];
    if (found.empty()) continue;
    Row row;
    row.columns = &columns();
    row.cells = {"trace",
                 call.kind,
                 call.shapes,
                 call.attributes,
                 call.dtype,
                 call.direction,
                 json_text(Json(median(found) * 1e-6)),
                 std::to_string(found.size())};
    row.line = rows.size() + 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

TorchTrace parse_torch_trace(std::string_view text, const std::string& where) {
  if (text.starts_with("\x1f\x8b")) {
    fail(where, "is compressed; unpack it first: gunzip FILE.json.gz");
  }
  const TorchEvents events = read_torch_events(text, where);
  TorchTrace trace;
  trace.gpu = !events.kernels.empty();
  const std::vector<NamedSpan> steps = steps_of(events);
  for (const NamedSpan& step : steps) {
    double time_us = step.span.end_us - step.span.begin_us;
    const auto device = events.device_steps.find(step.name);
    if (device != events.device_steps.end()) {
      time_us = std::max(time_us, device->second.end_us - device->second.begin_us);
    }
    if (time_us > 0) trace.steps_s.push_back(time_us * 1e-6);
  }
  trace.operators = operators_of(events, steps);
  if (trace.steps_s.empty() && trace.operators.empty()) {
    fail(where,
         "no measured step and no operator with shapes; give torch.profiler.profile a schedule of "
         "three or more steps and record_shapes=True, and call profiler.step() after each step");
  }
  return trace;
}

TorchTrace read_torch_trace(const std::filesystem::path& file) {
  return parse_torch_trace(read_file(file, kLargestFile), named(file));
}

double step_of(const TorchTrace& trace) { return median(trace.steps_s); }

OperatorCases traced_operators(const TorchTrace& trace, const std::string& device,
                               Precision precision) {
  OperatorCases cases;
  for (const Row& row : trace.operators) {
    try {
      auto one = collected_case(row, "operator " + std::to_string(row.line));
      one->device = device;
      one->overhead_s = 0;
      const bool allowed = precision == Precision::Tf32 && cell(row, "dtype") == "f32";
      if (allowed) one->precision = precision;
      cases.push_back(std::move(one));
    } catch (const Error&) {  // a form of the operator that we do not have
    }
  }
  return cases;
}

}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/detail/torch_events.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::measured {
namespace {

constexpr int kDeepest = 16;
constexpr std::size_t kMostEvents = 5'000'000;  // that are kept
constexpr std::size_t kMostCalls = 20'000;      // different ones
constexpr std::size_t kMostValues = 100'000;    // in one event
constexpr std::size_t kMostArguments = 64;
constexpr double kLatest = 1e16;  // microseconds, 300 years

constexpr std::string_view kStepName = "ProfilerStep#";

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

// Passes each event on and forgets it. Fields besides `traceEvents` are not looked at; a trace may
// also be the list alone.
void for_each_event(std::string_view text, const std::string& where,
                    const std::function<void(const Json&)>& on_event) {
  std::size_t values = 0;
  int depth_of_events = 0;  // of the list's elements
  const auto keep = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth > kDeepest) fail(where, "nested deeper than any trace");
    if (depth == 0 && event == Event::array_start) depth_of_events = 1;
    if (depth == 1 && event == Event::key && depth_of_events != 1) {
      depth_of_events = value == "traceEvents" ? 2 : 0;
      return depth_of_events == 2;
    }
    if (++values > kMostValues) fail(where, "an event with more values than any trace has");
    if (depth == 0 || depth_of_events == 0 || depth > depth_of_events) return true;
    const bool starts = event == Event::object_start || event == Event::array_start;
    if (depth < depth_of_events || starts) return true;
    if (event == Event::object_end) on_event(value);
    values = 0;
    return false;
  };
  try {
    const Json rest = Json::parse(text.begin(), text.end(), keep);  // without the events
  } catch (const Json::exception& error) {
    fail(where, "not a trace of torch.profiler: " + printable(error.what(), 120));
  }
}

double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::int64_t integer(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<TorchSpan> span_of(const Json& event) {
  const double begin = number(event, "ts");
  const double duration = number(event, "dur");
  if (!(std::abs(begin) < kLatest) || !(duration >= 0 && duration < kLatest)) return std::nullopt;
  return TorchSpan{begin, begin + duration};
}

const Json& args_of(const Json& event) {
  static const Json kNone = Json::object();
  const auto found = event.find("args");
  return found != event.end() && found->is_object() ? *found : kNone;
}

// Nothing where the trace was recorded without shapes.
std::vector<AtenArgument> arguments_of(const Json& args) {
  const auto list = [&args](const char* key) {
    const auto found = args.find(key);
    return found != args.end() && found->is_array() ? *found : Json::array();
  };
  const Json shapes = list("Input Dims");
  const Json types = list("Input type");
  const Json values = list("Concrete Inputs");
  std::vector<AtenArgument> arguments(std::min(shapes.size(), kMostArguments));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const Json& size : shapes[i].is_array() ? shapes[i] : Json::array()) {
      if (!size.is_number_integer()) break;  // a list of tensors
      arguments[i].shape.push_back(size.get<std::int64_t>());
    }
    if (i < types.size() && types[i].is_string()) arguments[i].type = types[i];
    if (i < values.size() && values[i].is_string()) arguments[i].value = values[i];
  }
  return arguments;
}

void widen(std::map<std::string, TorchSpan>& spans, const std::string& name,
           const TorchSpan& span) {
  const auto [found, added] = spans.emplace(name, span);
  if (added) return;
  found->second.begin_us = std::min(found->second.begin_us, span.begin_us);
  found->second.end_us = std::max(found->second.end_us, span.end_us);
}

TorchCall call_of(const Json& event, const std::string& name, const TorchSpan& span,
                  TorchEvents& events) {
  const Json& args = args_of(event);
  TorchCall call{span, integer(event, "tid"), integer(args, "External id"), -1};
  if (!is_known_aten(name)) return call;
  const auto told = aten_call(name, arguments_of(args));
  if (!told || events.known.size() >= kMostCalls) return call;
  call.what = events.known.emplace(*told, static_cast<int>(events.known.size())).first->second;
  return call;
}

void add_event(const Json& event, TorchEvents& events) {
  const std::string category = text_of(event, "cat");
  const std::optional<TorchSpan> span = span_of(event);
  if (!span || text_of(event, "ph") != "X") return;
  const std::string name = text_of(event, "name");
  const Json& args = args_of(event);
  if (category == "cpu_op") {
    events.calls.push_back(call_of(event, name, *span, events));
  } else if (category == "kernel" || category == "gpu_memset") {
    events.kernels.push_back({*span, integer(args, "External id"), integer(args, "correlation")});
  } else if (category == "cuda_runtime" || category == "cuda_driver") {
    const std::int64_t correlation = integer(args, "correlation");
    if (correlation != 0) events.launches.emplace(correlation, integer(args, "External id"));
  } else if (name.starts_with(kStepName)) {
    if (category == "user_annotation") widen(events.host_steps, name, *span);
    if (category == "gpu_user_annotation") widen(events.device_steps, name, *span);
  }
}

}  // namespace

TorchEvents read_torch_events(std::string_view text, const std::string& where) {
  TorchEvents events;
  for_each_event(text, where, [&](const Json& event) {
    add_event(event, events);
    const std::size_t kept = events.calls.size() + events.kernels.size() + events.launches.size() +
                             events.host_steps.size() + events.device_steps.size();
    if (kept > kMostEvents) {
      fail(where, "more than " + std::to_string(kMostEvents) + " events; record fewer steps");
    }
  });
  std::sort(events.calls.begin(), events.calls.end(), [](const TorchCall& a, const TorchCall& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.span.begin_us != b.span.begin_us) return a.span.begin_us < b.span.begin_us;
    return a.span.end_us > b.span.end_us;
  });
  return events;
}

}  // namespace foretrain::measured

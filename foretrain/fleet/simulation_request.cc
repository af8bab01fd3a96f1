// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulation_request.h"

#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/sched/placement.h"
#include "foretrain/sched/policy.h"

namespace foretrain::fleet {
namespace {

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorKind::BadInput, "simulation: " + what);
}

constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;  // what a number of JSON can hold

template <typename T>
void read_into(T& value, const std::optional<T>& given) {
  if (given) value = *given;
}

void read_into(double& value, const char* key, JsonFields& fields) {
  read_into(value, fields.number(key));
}

int read_count(const char* key, int least, int most, int otherwise, JsonFields& fields) {
  const std::int64_t count = fields.integer(key).value_or(otherwise);
  if (count < least || count > most) {
    bad(std::string("'") + key + "' must be " + std::to_string(least) + " to " +
        std::to_string(most));
  }
  return static_cast<int>(count);
}

// The entries of a list by `get`, which throws for one of another type.
template <typename T>
std::vector<T> read_list(const char* key, JsonFields& fields) {
  const Json* list = fields.find(key);
  if (list == nullptr) return {};
  try {
    return list->get<std::vector<T>>();
  } catch (const Json::exception&) {
    bad(std::string("'") + key + "' must be a list of " +
        (std::is_same_v<T, double> ? "numbers" : "names"));
  }
}

void read_question(SimulationRequest& request, JsonFields& fields) {
  read_into(request.trace, fields.text("trace"));
  request.trace_text = fields.text("trace_text");
  if (request.trace_text && request.trace.empty()) request.trace = "trace";
  const Json& cluster = fields.require("cluster");
  request.cluster = cluster.is_object() ? json_text(cluster) : fields.required_text("cluster");
  read_into(request.policy, fields.text("policy"));
  read_into(request.placement, fields.text("placement"));
  request.limits_s = read_list<double>("limits_s", fields);
  read_into(request.round_s, "round_s", fields);
  read_into(request.drop_unfit, fields.boolean("drop_unfit"));
}

void read_uncertainty(SimulationRequest& request, JsonFields& fields) {
  read_into(request.durations, fields.text("durations"));
  read_into(request.predictions, fields.text("predictions"));
  request.prediction_error = fields.number("prediction_error");
  read_into(request.draw_durations, fields.boolean("draw_durations"));
  read_into(request.restart_cost_s, "restart_cost_s", fields);
  read_into(request.checkpoint_interval_s, "checkpoint_interval_s", fields);
  read_into(request.mtbf_s, "mtbf_s", fields);
  read_into(request.repair_s, "repair_s", fields);
  const std::int64_t seed = fields.integer("seed").value_or(0);
  if (seed < 0 || seed > kLargestSeed) bad("'seed' must be 0 to 2^53");
  request.seed = static_cast<std::uint64_t>(seed);
}

void read_extent(SimulationRequest& request, JsonFields& fields) {
  request.sweep = read_list<std::string>("sweep", fields);
  request.seeds = read_count("seeds", 1, kMostSeeds, 1, fields);
  request.threads = read_count("threads", 0, kMostThreads, 0, fields);
  read_into(request.per_job, fields.boolean("per_job"));
  read_into(request.chart, fields.boolean("chart"));
  read_into(request.svg, fields.boolean("svg"));
}

void check_number(const char* name, double value, double most) {
  if (value >= 0 && value <= most) return;  // not so for NaN
  bad(std::string("'") + name + "' must be 0 to " + (most == 1 ? "1" : "1e12"));
}

}  // namespace

SimulationRequest parse_simulation_request(std::string_view json, const std::string& where) {
  const Json object = parse_json(json, where);
  JsonFields fields(object, where);
  SimulationRequest request;
  read_question(request, fields);
  read_uncertainty(request, fields);
  read_extent(request, fields);
  fields.finish();
  return request;
}

void check(const SimulationRequest& request) {
  for (const std::string& policy : request.sweep) sched::find_policy(policy);
  sched::find_policy(request.policy);
  sched::find_placement(request.placement);
  if (request.trace.empty()) bad("'trace' is missing; name a file, or give 'trace_text'");
  for (const double limit : request.limits_s) check_number("limits_s", limit, kLongestTime);
  check_number("round_s", request.round_s, kLongestTime);
  if (request.round_s == 0) bad("'round_s' must be above 0: rounds without length never end");
  check_number("prediction_error", request.prediction_error.value_or(0), 1);
  check_number("restart_cost_s", request.restart_cost_s, kLongestTime);
  check_number("checkpoint_interval_s", request.checkpoint_interval_s, kLongestTime);
  check_number("mtbf_s", request.mtbf_s, kLongestTime);
  check_number("repair_s", request.repair_s, kLongestTime);
  if (is_sweep(request) && (request.per_job || request.chart || request.svg)) {
    bad("'per_job', 'chart' and 'svg' show one simulation; leave out 'sweep' and 'seeds'");
  }
}

}  // namespace foretrain::fleet

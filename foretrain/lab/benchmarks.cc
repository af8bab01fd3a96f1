// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/benchmarks.h"

#include <csignal>
#include <set>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/lab/campaign.h"
#include "foretrain/lab/isolate.h"
#include "foretrain/lab/machine.h"
#include "foretrain/lab/measure.h"

namespace foretrain::lab {
namespace {

constexpr Seconds kPatience{3600};
constexpr const char* kSource = "collect";

// `hosts`, once nothing of an earlier lab is left.
int prepared(int hosts) {
  std::signal(SIGPIPE, SIG_IGN);  // a worker that ends is an error of ours, not our end
  sweep_cgroups();
  return hosts;
}

// One machine-wide lab for a handful of jobs.
class Session {
 public:
  Session(int hosts, const WorkerOptions& options, bool isolated)
      : hosts_(prepared(hosts), isolated),
        workers_(hosts_, options),
        bench_{hosts_, workers_, options} {}

  // Gives every host a core of its own and starts its worker.
  void start(double bytes_per_s) {
    Setting setting;
    setting.workers = hosts_.count();
    setting.bytes_per_s = bytes_per_s;
    apply_setting(setting, hosts_);
    workers_.ensure(hosts_.count());
  }

  store::Machine machine() const {
    store::Machine machine = describe_machine();
    machine.pytorch = workers_.pytorch();
    if (!workers_.gpu().empty()) machine.id += "@" + workers_.gpu();  // what was timed
    return machine;
  }

  Bench& bench() { return bench_; }
  Hosts& hosts() { return hosts_; }
  Workers& workers() { return workers_; }

 private:
  Lock lock_;
  Hosts hosts_;
  Workers workers_;
  Bench bench_;
};

std::string ask(Workers& workers, const Json& job) {
  workers.send(0, job.dump());
  return workers.receive(0, kPatience);
}

// Rows that are there already (the same operator in another model) count once.
void add_operators(const std::string& line, std::set<std::string>& seen,
                   Timings<store::Operator>& timings) {
  const Json answer = parse_json(line, "a worker's answer");
  for (const Json& row : answer.at("rows")) {
    store::Operator one;
    one.machine = timings.machine.id;
    one.source = kSource;
    one.kind = row.at("kind");
    one.shapes = row.at("shapes");
    one.attributes = row.at("attributes");
    one.dtype = row.at("dtype");
    one.direction = row.at("direction");
    one.time_s = row.at("time_s");
    one.spread_s = row.at("spread_s").get<double>();
    one.repeats = row.at("repeats").get<std::int64_t>();
    const std::string key =
        one.kind + "|" + one.shapes + "|" + one.attributes + "|" + one.dtype + "|" + one.direction;
    if (seen.insert(key).second) timings.rows.push_back(one);
  }
  for (const Json& reason : answer.at("skipped")) timings.skipped.push_back(reason);
}

// Nothing at all is no result.
template <typename Row>
Timings<Row> checked(Timings<Row> timings) {
  if (!timings.rows.empty()) return timings;
  throw Error(ErrorKind::Unsupported,
              "nothing could be timed" +
                  (timings.skipped.empty() ? "" : "; the first reason: " + timings.skipped[0]));
}

Json operators_of(const std::string& lines) {
  Json result = Json::array();
  std::istringstream stream(lines);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = "the plan, line " + std::to_string(number);
    const Json entry = parse_json(line, where);
    JsonFields fields(entry, where);
    fields.required_text("op");
    const Json& shapes = fields.require("shapes");
    const Json& types = fields.require("types");
    fields.ignore("attributes");
    fields.finish();
    if (!shapes.is_array() || !types.is_array() || shapes.size() != types.size()) {
      throw Error(ErrorKind::BadInput,
                  where + ": 'shapes' and 'types' must be lists, equally long");
    }
    result.push_back(entry);
  }
  return result;
}

}  // namespace

Timings<store::Operator> time_operators(const OperatorPlan& plan, const WorkerOptions& options,
                                        bool isolated) {
  const Json listed = operators_of(plan.lines);
  Session session(1, options, isolated);
  for (const std::string& model : plan.models) graph_line(session.bench(), model);
  session.start(0);
  Timings<store::Operator> timings;
  timings.machine = session.machine();
  std::set<std::string> seen;
  Json job{{"kind", "operators"},           {"job", 1},
           {"threads", options.threads},    {"seconds", plan.least_time.count()},
           {"repeats", plan.least_repeats}, {"most_elements", plan.most_elements}};
  if (!listed.empty()) {
    job["operators"] = listed;
    add_operators(ask(session.workers(), job), seen, timings);
    job.erase("operators");
  }
  for (const std::string& model : plan.models) {
    job["graph"] = parse_json(graph_line(session.bench(), model), model);
    for (const std::int64_t batch : plan.batches) {
      job["batch"] = batch;
      add_operators(ask(session.workers(), job), seen, timings);
    }
  }
  return checked(std::move(timings));
}

Timings<store::Collective> time_collectives(const CollectivePlan& plan,
                                            const WorkerOptions& options, bool isolated) {
  Session session(plan.ranks, options, isolated);
  session.start(plan.network.empty() ? 0 : rate_of(plan.network, "the network"));
  Timings<store::Collective> timings;
  timings.machine = session.machine();
  Json job{{"kind", "collectives"},
           {"job", 1},
           {"threads", options.threads},
           {"workers", plan.ranks},
           {"master", session.hosts()[0].address + ":20000"},
           {"kinds", plan.kinds},
           {"sizes", plan.sizes},
           {"seconds", plan.least_time.count()},
           {"repeats", plan.least_repeats}};
  for (int rank = 0; rank < plan.ranks; ++rank) {
    job["rank"] = rank;
    session.workers().send(rank, job.dump());
  }
  // The slowest rank's time is the collective's.
  const std::vector<std::string> lines = session.workers().receive_all(plan.ranks, kPatience);
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    const Json answer = parse_json(lines[rank], "a worker's answer");
    std::size_t place = 0;
    for (const Json& row : answer.at("rows")) {
      store::Collective one;
      one.machine = timings.machine.id;
      one.source = kSource;
      one.kind = row.at("kind");
      one.backend = row.at("backend");
      one.link = plan.network;
      one.ranks = plan.ranks;
      one.nodes = isolated ? plan.ranks : 1;
      one.bytes = row.at("bytes");
      one.time_s = row.at("time_s");
      one.spread_s = row.at("spread_s").get<double>();
      one.repeats = row.at("repeats").get<std::int64_t>();
      if (rank == 0) timings.rows.push_back(one);
      if (one.time_s > timings.rows.at(place).time_s) timings.rows[place] = one;
      ++place;
    }
    if (rank > 0) continue;
    for (const Json& reason : answer.at("skipped")) timings.skipped.push_back(reason);
  }
  return checked(std::move(timings));
}

}  // namespace foretrain::lab

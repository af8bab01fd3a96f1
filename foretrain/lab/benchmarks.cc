// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/benchmarks.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/lab/campaign.h"
#include "foretrain/lab/detail/measure.h"
#include "foretrain/lab/isolate.h"

namespace foretrain::lab {
namespace {

constexpr Seconds kPatience{3600};
constexpr std::size_t kFirstPort = 20'000;
constexpr const char* kSource = "collect";

// Operators that are timed by one line to the worker: about a second's work.
constexpr std::size_t kOperatorsAtOnce = 8;

// Workers for a handful of jobs.
class Session {
 public:
  Session(Hosts& hosts, const WorkerOptions& options)
      : hosts_(hosts), workers_(hosts, options), bench_{hosts, workers_, options} {}

  // Gives the first hosts a core of their own each and starts their workers.
  void start(int count, double bytes_per_s) {
    Setting setting;
    setting.workers = count;
    setting.bytes_per_s = bytes_per_s;
    apply_setting(setting, hosts_);
    workers_.ensure(count);
  }

  store::Machine machine() const {
    store::Machine machine = workers_.machine(0);
    if (!workers_.gpu().empty()) machine.id += "@" + workers_.gpu();  // what was timed
    return machine;
  }

  Json ask(const Json& job) {
    workers_.send(0, json_text(job));
    return parse_json(workers_.receive(0, kPatience), "a worker's answer");
  }

  Bench& bench() { return bench_; }
  Workers& workers() { return workers_; }

 private:
  Hosts& hosts_;
  Workers workers_;
  Bench bench_;
};

// Adds a part's rows and tells about it.
template <typename Row>
void add_part(const std::vector<Row>& rows, double share, const OnPart<Row>& on_part,
              Timings<Row>& timings) {
  timings.rows.insert(timings.rows.end(), rows.begin(), rows.end());
  if (on_part) on_part({timings.machine, rows, share});
}

void add_reasons(const Json& answer, std::vector<std::string>& skipped) {
  for (const Json& reason : answer.at("skipped")) skipped.push_back(reason);
}

store::Operator operator_of(const Json& row, const std::string& machine) {
  store::Operator one;
  one.machine = machine;
  one.source = kSource;
  one.kind = row.at("kind");
  one.shapes = row.at("shapes");
  one.attributes = row.at("attributes");
  one.dtype = row.at("dtype");
  one.direction = row.at("direction");
  one.time_s = row.at("time_s");
  one.spread_s = row.at("spread_s").get<double>();
  one.repeats = row.at("repeats").get<std::int64_t>();
  return one;
}

store::Collective collective_of(const Json& row, const CollectivePlan& plan, int nodes,
                                const std::string& machine) {
  store::Collective one;
  one.machine = machine;
  one.source = kSource;
  one.kind = row.at("kind");
  one.backend = row.at("backend");
  one.link = plan.network;
  one.ranks = plan.ranks;
  one.nodes = nodes;
  one.bytes = row.at("bytes");
  one.time_s = row.at("time_s");
  one.spread_s = row.at("spread_s").get<double>();
  one.repeats = row.at("repeats").get<std::int64_t>();
  return one;
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

// Those of the plan, each once: of its lines, and of its models as the worker lists them.
std::vector<Json> distinct_operators(const OperatorPlan& plan, const Json& listed,
                                     Session& session) {
  std::vector<Json> result;
  std::set<std::string> seen;
  const auto add = [&](const Json& operators) {
    for (const Json& one : operators) {
      if (seen.insert(json_text(one)).second) result.push_back(one);
    }
  };
  add(listed);
  Json job{{"kind", "list_operators"}, {"job", 1}};
  for (const std::string& model : plan.models) {
    job["graph"] = parse_json(graph_line(session.bench(), model), model);
    for (const std::int64_t batch : plan.batches) {
      job["batch"] = batch;
      add(session.ask(job).at("operators"));
    }
  }
  return result;
}

// What all ranks answered about one kind: the slowest rank's time is the collective's.
std::vector<store::Collective> slowest(const std::vector<Json>& answers, const CollectivePlan& plan,
                                       int nodes, const std::string& machine) {
  std::vector<store::Collective> rows;
  for (const Json& row : answers.front().at("rows")) {
    rows.push_back(collective_of(row, plan, nodes, machine));
  }
  for (const Json& answer : answers) {
    if (answer.at("rows").size() != rows.size()) {
      throw Error(ErrorKind::Io, "the ranks of a collective do not agree on what they timed");
    }
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const store::Collective one = collective_of(answer.at("rows")[place], plan, nodes, machine);
      if (one.time_s > rows[place].time_s) rows[place] = one;
    }
  }
  return rows;
}

std::vector<Json> ask_all(Session& session, Json job, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    job["rank"] = rank;
    session.workers().send(rank, json_text(job));
  }
  std::vector<Json> answers;
  for (const std::string& line : session.workers().receive_all(ranks, kPatience)) {
    answers.push_back(parse_json(line, "a worker's answer"));
  }
  return answers;
}

}  // namespace

Timings<store::Operator> time_operators(const OperatorPlan& plan, const WorkerOptions& options,
                                        Hosts& hosts, const OnPart<store::Operator>& on_part) {
  const Json listed = operators_of(plan.lines);
  Session session(hosts, options);
  for (const std::string& model : plan.models) graph_line(session.bench(), model);
  session.start(1, 0);
  Timings<store::Operator> timings;
  timings.machine = session.machine();
  add_part({}, 0, on_part, timings);
  const std::vector<Json> operators = distinct_operators(plan, listed, session);
  Json job{{"kind", "operators"},           {"job", 1},
           {"threads", options.threads},    {"seconds", plan.least_time.count()},
           {"repeats", plan.least_repeats}, {"most_elements", plan.most_elements}};
  for (std::size_t begin = 0; begin < operators.size(); begin += kOperatorsAtOnce) {
    const std::size_t end = std::min(begin + kOperatorsAtOnce, operators.size());
    job["operators"] = std::vector<Json>(operators.data() + begin, operators.data() + end);
    const Json answer = session.ask(job);
    std::vector<store::Operator> rows;
    for (const Json& row : answer.at("rows")) {
      rows.push_back(operator_of(row, timings.machine.id));
    }
    add_reasons(answer, timings.skipped);
    add_part(rows, static_cast<double>(end) / static_cast<double>(operators.size()), on_part,
             timings);
  }
  return checked(std::move(timings));
}

Timings<store::Collective> time_collectives(const CollectivePlan& plan,
                                            const WorkerOptions& options, Hosts& hosts,
                                            const OnPart<store::Collective>& on_part) {
  Session session(hosts, options);
  session.start(plan.ranks, plan.network.empty() ? 0 : rate_of(plan.network, "the network"));
  Timings<store::Collective> timings;
  timings.machine = session.machine();
  add_part({}, 0, on_part, timings);
  const int nodes = hosts[0].own_network || !hosts[0].local ? plan.ranks : 1;
  for (std::size_t kind = 0; kind < plan.kinds.size(); ++kind) {
    const std::size_t port = kFirstPort + kind;
    const Json job{{"kind", "collectives"},
                   {"job", kind + 1},
                   {"threads", options.threads},
                   {"workers", plan.ranks},
                   {"master", hosts[0].address + ":" + std::to_string(port)},
                   {"kinds", Json::array({plan.kinds[kind]})},
                   {"sizes", plan.sizes},
                   {"seconds", plan.least_time.count()},
                   {"repeats", plan.least_repeats}};
    const std::vector<Json> answers = ask_all(session, job, plan.ranks);
    add_reasons(answers.front(), timings.skipped);
    add_part(slowest(answers, plan, nodes, timings.machine.id),
             static_cast<double>(kind + 1) / static_cast<double>(plan.kinds.size()), on_part,
             timings);
  }
  return checked(std::move(timings));
}

Timings<store::Operator> time_operators(const OperatorPlan& plan, const WorkerOptions& options,
                                        bool isolated, const OnPart<store::Operator>& on_part) {
  Timings<store::Operator> timings;
  run_alone([&] {
    Hosts hosts(1, isolated);
    timings = time_operators(plan, options, hosts, on_part);
  });
  return timings;
}

Timings<store::Collective> time_collectives(const CollectivePlan& plan,
                                            const WorkerOptions& options, bool isolated,
                                            const OnPart<store::Collective>& on_part) {
  Timings<store::Collective> timings;
  run_alone([&] {
    Hosts hosts(plan.ranks, isolated);
    timings = time_collectives(plan, options, hosts, on_part);
  });
  return timings;
}

}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/resource_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/detail/cells.h"
#include "foretrain/measured/lab_runs.h"
#include "foretrain/measured/open_tables.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

namespace foretrain::measured {
namespace {

namespace fs = std::filesystem;
using resource::kResources;
using resource::kRoles;

// Runs and their metrics, from one moment.
struct RunTables {
  Table runs;
  Table metrics;
};

Table exported(const store::Store& store, const fs::path& file, const char* table) {
  auto text = std::make_unique<std::stringstream>();
  store::export_table(store, table, *text);
  const auto bytes = static_cast<std::uintmax_t>(text->tellp());
  return {table, printable(file.filename().string()) + ", table " + table, std::move(text), bytes};
}

RunTables open_run_tables(const fs::path& data) {
  std::error_code problem;
  if (fs::is_directory(data, problem)) {
    for (const char* name : {"runs.csv", "metrics.csv"}) {
      if (fs::is_regular_file(data / name, problem)) continue;
      throw Error(ErrorKind::NotFound, "'" + printable(data.string()) + "' has no " + name +
                                           "; `foretrain store export -o DIR` writes it");
    }
    return {Table(data / "runs.csv"), Table(data / "metrics.csv")};
  }
  if (!fs::exists(data, problem)) {
    throw Error(ErrorKind::NotFound, "no folder or file '" + printable(data.string()) + "'");
  }
  if (kind_of(data) != FileKind::Store) {
    throw Error(ErrorKind::BadInput,
                "'" + printable(data.string()) + "' is no store and no folder that one exported");
  }
  const store::Store store(data, store::OpenMode::ReadOnly);
  std::optional<RunTables> tables;
  store.in_snapshot([&] {
    tables = RunTables{exported(store, data, "runs"), exported(store, data, "metrics")};
  });
  return std::move(*tables);
}

std::optional<double> known_median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

// Collects one number of several recordings.
template <typename Of>
std::optional<double> median_over(const std::vector<const ResourceUse*>& uses, const Of& of) {
  std::vector<double> values;
  for (const ResourceUse* use : uses) {
    if (const std::optional<double> value = of(*use)) values.push_back(*value);
  }
  return known_median(std::move(values));
}

// Recordings that alternate and those that do not have other numbers: the more frequent kind
// speaks.
ResourceUse median_use(const std::vector<const ResourceUse*>& uses) {
  ResourceUse result;
  for (const ResourceUse* use : uses) {
    result.alternating += use->alternating / static_cast<double>(uses.size());
  }
  const bool alternates = result.alternating >= 0.5;
  std::vector<const ResourceUse*> those;
  for (const ResourceUse* use : uses) {
    if ((use->alternating >= 0.5) == alternates) those.push_back(use);
  }
  result.amount = median_over(those, [](const ResourceUse& use) { return use.amount; });
  if (alternates) {
    result.idle_amount = median_over(those, [](const auto& use) { return use.idle_amount; });
    result.burst_s = median_over(those, [](const auto& use) { return use.burst_s; });
    result.idle_s = median_over(those, [](const auto& use) { return use.idle_s; });
  }
  const auto share = [](const ResourceUse& use) { return std::optional(use.burst_share); };
  result.burst_share = median_over(uses, share).value_or(0);
  return result;
}

RoleUse median_role(const std::vector<const RoleUse*>& roles) {
  RoleUse result;
  std::vector<double> memory;
  for (const RoleUse* role : roles) {
    if (role->memory_used) memory.push_back(*role->memory_used);
  }
  result.memory_used = known_median(std::move(memory));
  for (std::size_t r = 0; r < kResources.size(); ++r) {
    std::vector<const ResourceUse*> uses;
    for (const RoleUse* role : roles) {
      if (role->of[r]) uses.push_back(&*role->of[r]);
    }
    if (!uses.empty()) result.of[r] = median_use(uses);
  }
  return result;
}

using Processes = std::map<std::pair<std::size_t, std::string>, RoleUse>;  // by role and instance

// Reads one line of the metrics into the process that it tells of.
void read_metric(const Row& row, const std::string& where, Processes& processes) {
  const std::string_view role_name = cell(row, "role");
  const auto role = std::find_if(kRoles.begin(), kRoles.end(),
                                 [&](auto one) { return name_of(one) == role_name; });
  if (role == kRoles.end()) {
    throw Error(ErrorKind::BadInput, where + ": role is neither worker nor server");
  }
  RoleUse& use = processes[{index_of(*role), std::string(cell(row, "instance"))}];
  const std::string_view name = cell(row, "resource");
  const auto number = [&](const char* column) { return optional_number(row, column, where); };
  if (name == "memory_used") {
    use.memory_used = number("burst_amount");
    if (!use.memory_used) use.memory_used = number("idle_amount");
    return;
  }
  const auto kind = std::find_if(kResources.begin(), kResources.end(),
                                 [&](auto one) { return name_of(one) == name; });
  if (kind == kResources.end()) return;
  ResourceUse one;
  one.burst_s = number("burst_s");
  one.idle_s = number("idle_s");
  one.alternating = cell(row, "pattern") == "BIB" && one.burst_s && one.idle_s ? 1 : 0;
  one.amount = number("burst_amount");
  one.idle_amount = number("idle_amount");
  if (!one.amount) one.amount = one.idle_amount;
  one.burst_share = number("burst_share").value_or(cell(row, "pattern") == "B" ? 1 : 0);
  use.of[index_of(*kind)] = one;
}

std::map<std::string, Processes> read_metrics(Table& table) {
  std::map<std::string, Processes> runs;
  for (Row row; table.next(row);) {
    const std::string where = table.where() + ": line " + std::to_string(row.line);
    read_metric(row, where, runs[std::string(cell(row, "run"))]);
  }
  return runs;
}

RunUse use_of(const Processes& processes, double step_time_s) {
  RunUse run{.step_time_s = step_time_s};
  for (const auto role : kRoles) {
    std::vector<const RoleUse*> uses;
    for (const auto& [key, use] : processes) {
      if (key.first == index_of(role)) uses.push_back(&use);
    }
    if (!uses.empty()) run.roles[index_of(role)] = median_role(uses);
  }
  return run;
}

// Of the fixed work that is timed before and after a run, the mean.
std::optional<double> work_of(const Row& row, const std::string& where) {
  const auto before = optional_number(row, "calibration_before_s", where);
  const auto after = optional_number(row, "calibration_after_s", where);
  if (!before || !after || *before <= 0 || *after <= 0) return std::nullopt;
  return (*before + *after) / 2;
}

void divide(std::optional<double>& value, double by) {
  if (value) *value /= by;
}

// Brings a run to the machine's usual speed: what a worker computes, or what others wait for it,
// takes as much less time. Exponents of the slowness, over repeats of one configuration at other
// speeds of the machine (docs/models/inspector.md): a step's is that of its part of computing.
void bring_to_usual_speed(double slowness, RunUse& run) {
  constexpr double kStep = 0.7;
  constexpr double kDeviceBurst = 1;
  constexpr double kMemoryAmount = -0.55;
  constexpr double kMemoryIdle = 0.45;
  constexpr double kNetworkIdle = 0.7;
  run.step_time_s /= std::pow(slowness, kStep);
  for (const auto role : kRoles) {
    std::optional<RoleUse>& use = run.roles[index_of(role)];
    if (!use) continue;
    for (const auto kind : kResources) {
      std::optional<ResourceUse>& one = use->of[index_of(kind)];
      const bool worker = role == resource::Role::Worker;
      if (!one || one->alternating < 0.5) continue;
      if (kind == resource::Resource::Device && worker) {
        divide(one->burst_s, std::pow(slowness, kDeviceBurst));
      } else if (kind == resource::Resource::Memory && worker) {
        divide(one->amount, std::pow(slowness, kMemoryAmount));
        divide(one->idle_s, std::pow(slowness, kMemoryIdle));
      } else if (kind == resource::Resource::Transmit || kind == resource::Resource::Receive) {
        divide(one->idle_s, std::pow(slowness, kNetworkIdle));
      }
    }
  }
}

// Which run took how long for the fixed work.
struct Speed {
  std::size_t job = 0;
  std::size_t repeat = 0;
  double work_s = 0;
};

// How long the fixed work took around a run: one timing of it is as noisy as the speed that it
// tells, so the median with its neighbours speaks.
double work_around(const std::vector<Speed>& speeds, std::size_t run) {
  constexpr std::size_t kNeighbours = 4;  // on either side
  const std::size_t first = run - std::min(run, kNeighbours);
  const std::size_t end = std::min(speeds.size(), run + kNeighbours + 1);
  std::vector<double> times;
  for (std::size_t i = first; i < end; ++i) times.push_back(speeds[i].work_s);
  return median(std::move(times));
}

// The usual speed is the median over all runs, which are in the order in which they were made.
void bring_to_usual_speed(const std::vector<Speed>& speeds, std::vector<ResourceJob>& jobs) {
  if (speeds.empty()) return;
  std::vector<double> times;
  for (const Speed& one : speeds) times.push_back(one.work_s);
  const double usual = median(std::move(times));
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    RunUse& run = jobs[speeds[i].job].repeats[speeds[i].repeat];
    bring_to_usual_speed(work_around(speeds, i) / usual, run);
  }
}

}  // namespace

std::optional<double> number_of(const RunUse& run, const resource::UseName& use) {
  const auto& role = run.roles[index_of(use.role)];
  if (!role || !role->of[index_of(use.resource)]) return std::nullopt;
  const ResourceUse& one = *role->of[index_of(use.resource)];
  if (one.alternating < 0.5) return std::nullopt;
  const std::array<std::optional<double>, resource::kNumbers.size()> numbers{
      one.amount, one.idle_amount, one.burst_s, one.idle_s, one.burst_share};
  return numbers[index_of(use.number)];
}

RunUse median_of(const std::vector<RunUse>& runs) {
  RunUse result;
  std::vector<double> steps;
  for (const RunUse& run : runs) steps.push_back(run.step_time_s);
  result.step_time_s = median(std::move(steps));
  for (std::size_t r = 0; r < kRoles.size(); ++r) {
    std::vector<const RoleUse*> roles;
    for (const RunUse& run : runs) {
      if (run.roles[r]) roles.push_back(&*run.roles[r]);
    }
    if (!roles.empty()) result.roles[r] = median_role(roles);
  }
  return result;
}

std::vector<ResourceJob> resource_jobs(const fs::path& data) {
  RunTables tables = open_run_tables(data);
  const std::map<std::string, Processes> metrics = read_metrics(tables.metrics);
  std::vector<ResourceJob> jobs;
  std::vector<Speed> speeds;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (Row row; tables.runs.next(row);) {
    if (cell(row, "status") != "ok" || !cell(row, "wall_s").empty()) continue;
    const auto found = metrics.find(std::string(cell(row, "id")));
    if (found == metrics.end()) continue;
    const std::string where = tables.runs.where() + ": line " + std::to_string(row.line);
    const auto [place, fresh] =
        places.emplace(std::pair(cell(row, "setting"), cell(row, "configuration")), jobs.size());
    if (fresh) {
      jobs.push_back({.model = model_of_run(row, where),
                      .setting = std::string(cell(row, "setting")),
                      .split = std::string(cell(row, "split")),
                      .request = request_of_run(row, where)});
    }
    const double step = optional_number(row, "step_median_s", where).value_or(0);
    std::vector<RunUse>& repeats = jobs[place->second].repeats;
    repeats.push_back(use_of(found->second, step));
    if (const auto work = work_of(row, where)) {
      speeds.push_back({place->second, repeats.size() - 1, *work});
    }
  }
  if (jobs.empty()) {
    throw Error(ErrorKind::BadInput, "'" + printable(data.string()) +
                                         "' has no run with measured resources; `foretrain "
                                         "collect` and `profile --store` write them");
  }
  bring_to_usual_speed(speeds, jobs);
  for (ResourceJob& job : jobs) job.median = median_of(job.repeats);
  return jobs;
}

}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/resource_runs.h"

#include <algorithm>
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
    jobs[place->second].repeats.push_back(use_of(found->second, step));
  }
  if (jobs.empty()) {
    throw Error(ErrorKind::BadInput, "'" + printable(data.string()) +
                                         "' has no run with measured resources; `foretrain "
                                         "collect` and `profile --store` write them");
  }
  for (ResourceJob& job : jobs) job.median = median_of(job.repeats);
  return jobs;
}

}  // namespace foretrain::measured

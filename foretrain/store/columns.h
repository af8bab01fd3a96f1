// SPDX-License-Identifier: Apache-2.0
// The columns of each row, once: statements, CSV files and listings are made from them.
// each_column(row, visit) calls visit(name, field) for every column in the table's order; the
// row may be const. kTableOf<Row> names the table.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "foretrain/store/rows.h"

namespace foretrain::store {

template <typename Row, typename Plain>
concept RowOf = std::same_as<std::remove_const_t<Row>, Plain>;

template <RowOf<Machine> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("id", row.id);
  visit("cpu", row.cpu);
  visit("cores", row.cores);
  visit("memory_bytes", row.memory_bytes);
  visit("kernel", row.kernel);
  visit("system", row.system);
  visit("pytorch", row.pytorch);
  visit("details", row.details);
}

template <RowOf<Campaign> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("name", row.name);
  visit("created", row.created);
  visit("definition", row.definition);
}

// Without the id, which the store gives.
template <RowOf<Run> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("campaign", row.campaign);
  visit("machine", row.machine);
  visit("configuration", row.configuration);
  visit("setting", row.setting);
  visit("split", row.split);
  visit("repeat", row.repeat);
  visit("started", row.started);
  visit("status", row.status);
  visit("message", row.message);
  visit("calibration_before_s", row.calibration_before_s);
  visit("calibration_after_s", row.calibration_after_s);
  visit("foreign_load", row.foreign_load);
  visit("wall_s", row.wall_s);
  visit("steps", row.steps);
  visit("step_mean_s", row.step_mean_s);
  visit("step_median_s", row.step_median_s);
  visit("step_sd_s", row.step_sd_s);
  visit("exposed_sync_s", row.exposed_sync_s);
  visit("details", row.details);
  visit("request", row.request);
}

// Without the run that it belongs to.
template <RowOf<Metric> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("role", row.role);
  visit("instance", row.instance);
  visit("resource", row.resource);
  visit("unit", row.unit);
  visit("pattern", row.pattern);
  visit("burst_amount", row.burst_amount);
  visit("idle_amount", row.idle_amount);
  visit("burst_s", row.burst_s);
  visit("idle_s", row.idle_s);
  visit("burst_amount_sd", row.burst_amount_sd);
  visit("idle_amount_sd", row.idle_amount_sd);
  visit("burst_sd_s", row.burst_sd_s);
  visit("idle_sd_s", row.idle_sd_s);
  visit("burst_share", row.burst_share);
}

// Without the run that it belongs to and the values, which are packed.
template <RowOf<Samples> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("role", row.role);
  visit("instance", row.instance);
  visit("resource", row.resource);
  visit("unit", row.unit);
  visit("window_s", row.window_s);
  visit("scale", row.scale);
}

template <RowOf<Operator> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("machine", row.machine);
  visit("source", row.source);
  visit("split", row.split);
  visit("kind", row.kind);
  visit("shapes", row.shapes);
  visit("attributes", row.attributes);
  visit("dtype", row.dtype);
  visit("direction", row.direction);
  visit("time_s", row.time_s);
  visit("spread_s", row.spread_s);
  visit("repeats", row.repeats);
}

template <RowOf<Collective> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("machine", row.machine);
  visit("source", row.source);
  visit("kind", row.kind);
  visit("backend", row.backend);
  visit("link", row.link);
  visit("ranks", row.ranks);
  visit("nodes", row.nodes);
  visit("bytes", row.bytes);
  visit("time_s", row.time_s);
  visit("spread_s", row.spread_s);
  visit("repeats", row.repeats);
}

// Without the file that it came from.
template <RowOf<Training> Row, typename Visit>
void each_column(Row& row, const Visit& visit) {
  visit("source", row.source);
  visit("framework", row.framework);
  visit("model", row.model);
  visit("task_dataset", row.task_dataset);
  visit("gpu", row.gpu);
  visit("gpus", row.gpus);
  visit("nodes", row.nodes);
  visit("gpus_per_node", row.gpus_per_node);
  visit("interconnect", row.interconnect);
  visit("precision", row.precision);
  visit("batch_per_gpu", row.batch_per_gpu);
  visit("global_batch", row.global_batch);
  visit("metric", row.metric);
  visit("value", row.value);
  visit("unit", row.unit);
  visit("parallelism", row.parallelism);
  visit("notes", row.notes);
}

template <typename Row>
inline constexpr const char* kTableOf = "";
template <>
inline constexpr const char* kTableOf<Machine> = "machines";
template <>
inline constexpr const char* kTableOf<Campaign> = "campaigns";
template <>
inline constexpr const char* kTableOf<Run> = "runs";
template <>
inline constexpr const char* kTableOf<Metric> = "metrics";
template <>
inline constexpr const char* kTableOf<Samples> = "samples";
template <>
inline constexpr const char* kTableOf<Operator> = "operators";
template <>
inline constexpr const char* kTableOf<Collective> = "collectives";
template <>
inline constexpr const char* kTableOf<Training> = "training";

// "id,cpu,cores,...": what a CSV file of such rows begins with, and the list in a statement.
template <typename Row>
std::string column_list() {
  std::string list;
  const Row row;
  each_column(row, [&](const char* name, const auto&) {
    list += (list.empty() ? "" : ",") + std::string(name);
  });
  return list;
}

}  // namespace foretrain::store

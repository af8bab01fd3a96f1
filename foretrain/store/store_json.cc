// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/store_json.h"

#include <cmath>
#include <optional>

#include "foretrain/base/json_writer.h"
#include "foretrain/store/columns.h"

namespace foretrain::store {
namespace {

JsonWriter& put(JsonWriter& json, std::int64_t value) {
  return json.value(static_cast<double>(value));
}
template <typename T>
JsonWriter& put(JsonWriter& json, const T& value) {
  return json.value(value);
}
JsonWriter& put(JsonWriter& json, const std::optional<std::int64_t>& value) {
  return value ? put(json, *value) : json.null();
}

template <typename Row>
void put_fields(const Row& row, JsonWriter& json) {
  each_column(row, [&](const char* name, const auto& field) { put(json.key(name), field); });
}

void put_row(const Run& run, JsonWriter& json) {
  put(json.begin_object().key("id"), run.id);
  put_fields(run, json);
  json.end_object();
}

void put_row(const Training& row, JsonWriter& json) {
  json.begin_object();
  put_fields(row, json);
  json.field("file", row.file).end_object();
}

template <typename Row>
void put_row(const Row& row, JsonWriter& json) {
  json.begin_object();
  put_fields(row, json);
  json.end_object();
}

// What is not known is null.
void put_numbers(const std::vector<double>& numbers, JsonWriter& json) {
  json.begin_array();
  for (const double number : numbers) {
    json.value(std::isfinite(number) ? std::optional(number) : std::nullopt);
  }
  json.end_array();
}

template <typename Row>
std::string rows_json(const std::vector<Row>& rows) {
  JsonWriter json;
  json.begin_array();
  for (const Row& row : rows) put_row(row, json);
  return json.end_array().finish();
}

// What was measured in the runs that count: `put_record` writes what it wants of each.
template <typename PutRecord>
std::string measured_json(const Store& store, const PutRecord& put_record) {
  JsonWriter json;
  json.begin_array();
  for (const Run& run : store.runs({.status = "ok"})) put_record(store.run(run.id), json);
  return json.end_array().finish();
}

void put_metrics(const RunRecord& record, JsonWriter& json) {
  for (const Metric& metric : record.metrics) {
    put(json.begin_object().key("run"), record.run.id);
    put_fields(metric, json);
    json.end_object();
  }
}

void put_steps(const RunRecord& record, JsonWriter& json) {
  if (record.step_times_s.empty()) return;
  put(json.begin_object().key("run"), record.run.id);
  put_numbers(record.step_times_s, json.key("times_s"));
  json.end_object();
}

void put_samples(const RunRecord& record, JsonWriter& json) {
  for (const Samples& samples : record.samples) {
    put(json.begin_object().key("run"), record.run.id);
    put_fields(samples, json);
    put_numbers(samples.values, json.key("values"));
    json.end_object();
  }
}

}  // namespace

StoreSummary summarise(const Store& store) {
  StoreSummary summary;
  store.in_snapshot([&] {
    for (const std::string& table : export_tables()) {
      summary.tables.emplace_back(table, store.count(table));
    }
    for (const Campaign& campaign : store.campaigns()) summary.campaigns[campaign.name];
    for (const Run& run : store.runs()) ++summary.campaigns[run.campaign][run.status];
  });
  return summary;
}

std::string summary_json(const StoreSummary& summary) {
  JsonWriter json;
  json.begin_object().key("tables").begin_object();
  for (const auto& [table, rows] : summary.tables) put(json.key(table), rows);
  json.end_object().key("campaigns").begin_object();
  for (const auto& [name, statuses] : summary.campaigns) {
    json.key(name).begin_object();
    for (const auto& [status, runs] : statuses) json.field(status, static_cast<double>(runs));
    json.end_object();
  }
  return json.end_object().end_object().finish();
}

std::string runs_json(const std::vector<Run>& runs) { return rows_json(runs); }

std::string record_json(const RunRecord& record) {
  JsonWriter json;
  put(json.begin_object().key("id"), record.run.id);
  put_fields(record.run, json);
  json.key("metrics").begin_array();
  for (const Metric& metric : record.metrics) put_row(metric, json);
  put_numbers(record.step_times_s, json.end_array().key("step_times_s"));
  return json.end_object().finish();
}

std::string imported_json(const std::vector<Imported>& files) {
  JsonWriter json;
  json.begin_array();
  for (const Imported& file : files) {
    json.begin_object().field("file", file.file).field("table", file.table);
    json.field("rows", static_cast<double>(file.rows));
    json.field("replaced", static_cast<double>(file.replaced));
    json.field("skipped", static_cast<double>(file.skipped)).end_object();
  }
  return json.end_array().finish();
}

std::string exported_json(const std::vector<std::string>& files) {
  JsonWriter json;
  json.begin_object().key("files").begin_array();
  for (const std::string& file : files) json.value(file);
  return json.end_array().end_object().finish();
}

std::string table_json(const Store& store, const std::string& table) {
  check_table(table);
  std::string text;
  store.in_snapshot([&] {
    if (table == "machines") text = rows_json(store.machines());
    if (table == "campaigns") text = rows_json(store.campaigns());
    if (table == "runs") text = rows_json(store.runs());
    if (table == "metrics") text = measured_json(store, put_metrics);
    if (table == "steps") text = measured_json(store, put_steps);
    if (table == "samples") text = measured_json(store, put_samples);
    if (table == "operators") text = rows_json(store.operators());
    if (table == "collectives") text = rows_json(store.collectives());
    if (table == "training") text = rows_json(store.training());
  });
  return text;
}

}  // namespace foretrain::store

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/measurements.h"

#include <algorithm>

#include "foretrain/measured/lab_runs.h"

namespace foretrain::measured {
namespace {

bool has_column(const Table& table, const char* name) {
  const auto& columns = table.columns();
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

std::string stem_of(std::string_view file) { return std::filesystem::path(file).stem().string(); }

}  // namespace

Measurements::Measurements(Table& table, Wanted wanted)
    : table_(table), wanted_(std::move(wanted)), runs_(are_runs(table.columns())) {
  if (runs_) return;
  const Mapping* own = mapping_for(table.name());
  const std::string missing = table.missing_columns();
  if (!missing.empty() && (own == nullptr || own->columns.empty())) {
    obstacle_ = "no training measurements: it lacks " + missing;
    return;
  }
  collected_ = own == nullptr && has_column(table, "file");
  if (own != nullptr) table.rename(own->columns);
  if (own != nullptr) check_columns(*own, table.columns());
}

const Mapping* Measurements::mapping_for(const std::string& file) {
  const auto [entry, added] = mappings_.try_emplace(file);
  if (added) {
    std::optional<std::filesystem::path> folder;
    if (!table_.path().empty()) folder = table_.path().parent_path();
    entry->second = find_mapping(file, folder);
    if (entry->second && file != table_.name()) check_columns(*entry->second, table_.columns());
  }
  return entry->second ? &*entry->second : nullptr;
}

bool Measurements::next(std::vector<Measurement>& found) {
  for (Row row; table_.next(row);) {
    const std::string file = collected_ ? stem_of(cell(row, "file")) : table_.name();
    const std::string source(cell(row, runs_ ? "campaign" : "source"));
    if (wanted_ && !wanted_(file, source)) continue;
    found.clear();
    if (runs_) {
      found = map_run(row, table_.where() + ": line " + std::to_string(row.line));
    } else if (const Mapping* mapping = mapping_for(file)) {
      found.push_back(map_row(*mapping, row));
    } else {
      Measurement& unknown = found.emplace_back();
      unknown.device = cell(row, "gpu");
      unknown.metric = cell(row, "metric");
      unknown.reason = "no mapping for " + file + ".csv";
    }
    for (Measurement& one : found) {
      one.file = file;
      one.line = row.line;
      one.source = source;
      one.split = cell(row, "split");
      if (!runs_) one.model = cell(row, "model");
    }
    return true;
  }
  return false;
}

}  // namespace foretrain::measured

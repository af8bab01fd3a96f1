// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/store/columns.h"
#include "foretrain/store/csv_rows.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/operator_files.h"

namespace foretrain::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 10'000;  // rows that are held in memory

template <typename Row>
Row read_row(const Sheet& sheet) {
  Row row;
  each_column(row, [&](const char* name, auto& field) { sheet.read(name, field); });
  return row;
}

template <typename Row>
bool has_columns(const Sheet& sheet) {
  bool all = true;
  const Row row;
  each_column(row, [&](const char* name, const auto&) { all = all && sheet.has(name); });
  return all;
}

// Makes room for rows before they are written: the first of a source (and machine) removes those of
// an earlier import; a machine that nobody has described is added by its name.
class Room {
 public:
  explicit Room(Store& store) : store_(store) {
    for (const Machine& machine : store.machines()) machines_.insert(machine.id);
  }
  void make(const std::string& source, const std::string& machine = "") {
    if (sources_.emplace(source, machine).second) store_.forget(source, machine);
    if (machine.empty() || !machines_.insert(machine).second) return;
    Machine unknown;
    unknown.id = machine;
    store_.put_machine(unknown);
  }

 private:
  Store& store_;
  std::set<std::string> machines_;
  std::set<std::pair<std::string, std::string>> sources_;
};

// Reads line by line with `read`, which appends to the rows of a line, and writes with `write`.
template <typename Row, typename Read, typename Write>
Imported import_rows(Sheet& sheet, const Read& read, const Write& write) {
  Imported imported{.file = sheet.file(), .table = kTableOf<Row>};
  std::vector<Row> rows;
  while (sheet.next()) {
    read(rows);
    if (rows.size() < kAtOnce) continue;
    imported.rows += rows.size();
    write(rows);
    rows.clear();
  }
  imported.rows += rows.size();
  write(rows);
  return imported;
}

Training read_training(const Sheet& sheet) {
  Training row = read_row<Training>(sheet);
  row.file = sheet.has("file") ? sheet.cell("file") : sheet.file();
  if (row.model.empty() || row.metric.empty()) sheet.fail("model and metric must not be empty");
  return row;
}

// A row of our own operators or collectives.
template <typename Row>
Row read_measured(const Sheet& sheet) {
  Row row = read_row<Row>(sheet);
  if (row.machine.empty() || row.kind.empty() || row.time_s < 0) {
    sheet.fail("needs a machine, a kind and a time that is not negative");
  }
  return row;
}

Imported import_sheet(Store& store, Sheet& sheet) {
  Room room(store);
  const auto write_operators = [&](const std::vector<Operator>& rows) {
    for (const Operator& row : rows) room.make(row.source, row.machine);
    store.append_operators(rows);
  };
  const auto write_collectives = [&](const std::vector<Collective>& rows) {
    for (const Collective& row : rows) room.make(row.source, row.machine);
    store.append_collectives(rows);
  };
  if (has_columns<Training>(sheet)) {
    const auto read = [&](auto& rows) { rows.push_back(read_training(sheet)); };
    return import_rows<Training>(sheet, read, [&](const std::vector<Training>& rows) {
      for (const Training& row : rows) room.make(row.file);
      store.append_training(rows);
    });
  }
  if (has_columns<Operator>(sheet)) {
    const auto read = [&](auto& rows) { rows.push_back(read_measured<Operator>(sheet)); };
    return import_rows<Operator>(sheet, read, write_operators);
  }
  if (has_columns<Collective>(sheet)) {
    const auto read = [&](auto& rows) { rows.push_back(read_measured<Collective>(sheet)); };
    return import_rows<Collective>(sheet, read, write_collectives);
  }
  if (const OperatorFormat* format = operator_format(sheet)) {
    const auto read = [&](auto& rows) {
      for (Operator& row : operators_of(sheet, *format)) rows.push_back(std::move(row));
    };
    return import_rows<Operator>(sheet, read, write_operators);
  }
  if (is_collective_file(sheet)) {
    const auto read = [&](auto& rows) { rows.push_back(collective_of(sheet)); };
    return import_rows<Collective>(sheet, read, write_collectives);
  }
  throw Error(ErrorKind::BadInput, "file " + printable(sheet.file()) +
                                       ": its columns are of no kind of file that can be imported; "
                                       "docs/store.md lists them");
}

// Runs of an export with their metrics and steps, by their numbers there.
std::map<std::int64_t, RunRecord> read_records(const fs::path& folder, Meter& meter) {
  std::map<std::int64_t, RunRecord> records;
  Sheet runs(folder / "runs.csv", meter);
  while (runs.next()) {
    const std::int64_t id = runs.integer("id");
    if (!records.emplace(id, RunRecord{.run = read_row<Run>(runs)}).second) {
      runs.fail("run " + std::to_string(id) + " is there twice");
    }
  }
  const auto record_of = [&](const Sheet& sheet) -> RunRecord& {
    const auto record = records.find(sheet.integer("run"));
    if (record == records.end()) sheet.fail("runs.csv has no run " + sheet.cell("run"));
    return record->second;
  };
  if (fs::exists(folder / "metrics.csv")) {
    Sheet sheet(folder / "metrics.csv", meter);
    while (sheet.next()) record_of(sheet).metrics.push_back(read_row<Metric>(sheet));
  }
  if (fs::exists(folder / "steps.csv")) {
    Sheet sheet(folder / "steps.csv", meter);
    const char* column = sheet.has("time_s") ? "time_s" : "times_s";  // older files: one per line
    while (sheet.next()) {
      std::vector<double>& times_s = record_of(sheet).step_times_s;
      for (const double time_s : sheet.numbers(column)) times_s.push_back(time_s);
    }
  }
  return records;
}

Imported import_runs(Store& store, const fs::path& folder, Meter& meter) {
  Imported imported{.file = "runs.csv", .table = "runs"};
  for (const auto& [id, record] : read_records(folder, meter)) {
    if (store.has_same(record.run)) {
      ++imported.skipped;
      continue;
    }
    store.append_run(record);
    ++imported.rows;
  }
  return imported;
}

std::vector<Imported> import_folder(Store& store, const fs::path& folder, Meter& meter) {
  std::vector<Imported> all;
  const auto put_all = [&](const char* file, auto put) {
    if (!fs::exists(folder / file)) return;
    Sheet sheet(folder / file, meter);
    Imported& imported = all.emplace_back();
    imported.file = file;
    imported.table = fs::path(file).stem().string();
    for (; sheet.next(); ++imported.rows) put(sheet);
  };
  put_all("machines.csv", [&](const Sheet& sheet) { store.put_machine(read_row<Machine>(sheet)); });
  put_all("campaigns.csv",
          [&](const Sheet& sheet) { store.put_campaign(read_row<Campaign>(sheet)); });
  if (fs::exists(folder / "runs.csv")) all.push_back(import_runs(store, folder, meter));
  for (const char* file : {"operators.csv", "collectives.csv", "training.csv"}) {
    if (!fs::exists(folder / file)) continue;
    Sheet sheet(folder / file, meter);
    all.push_back(import_sheet(store, sheet));
  }
  if (all.empty()) {
    throw Error(ErrorKind::BadInput, "folder '" + printable(folder.string(), 200) +
                                         "' has none of the files that store export writes");
  }
  return all;
}

}  // namespace

std::vector<Imported> import_path(Store& store, const fs::path& path, const OnLines& on_lines) {
  std::vector<Imported> imported;
  Meter meter(path, on_lines);
  store.in_transaction([&] {
    if (fs::is_directory(path)) {
      imported = import_folder(store, path, meter);
    } else {
      Sheet sheet(path, meter);
      imported = {import_sheet(store, sheet)};
    }
  });
  return imported;
}

}  // namespace foretrain::store

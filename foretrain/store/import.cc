// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/store/detail/operator_files.h"
#include "foretrain/store/detail/read_row.h"
#include "foretrain/store/detail/run_files.h"
#include "foretrain/store/exchange.h"

namespace foretrain::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 10'000;  // rows that are held in memory

// What tells the rows of one source apart, table by table.
struct Origin {
  std::string source;
  std::string machine;
};
Origin origin_of(const Operator& row) { return {row.source, row.machine}; }
Origin origin_of(const Collective& row) { return {row.source, row.machine}; }
Origin origin_of(const Training& row) { return {row.file, ""}; }

std::int64_t forget_like(Store& store, const Operator& row) {
  return store.forget_operators(row.source, row.machine);
}
std::int64_t forget_like(Store& store, const Collective& row) {
  return store.forget_collectives(row.source, row.machine);
}
std::int64_t forget_like(Store& store, const Training& row) {
  return store.forget_training(row.file);
}

void append(Store& store, const std::vector<Operator>& rows) { store.append_operators(rows); }
void append(Store& store, const std::vector<Collective>& rows) { store.append_collectives(rows); }
void append(Store& store, const std::vector<Training>& rows) { store.append_training(rows); }

// Makes room for rows before they are written: the first of an origin removes those of an earlier
// import; a machine that nobody has described is added by its name.
class Room {
 public:
  explicit Room(Store& store) : store_(store) {
    for (const Machine& machine : store.machines()) machines_.insert(machine.id);
  }

  void start_file() { ++file_; }

  // Returns how many rows were removed. Throws BadInput where another file of this import has
  // brought rows of the same origin: it would replace what has just been imported.
  template <typename Row>
  std::size_t make(const Row& row, const Sheet& sheet) {
    const Origin origin = origin_of(row);
    const auto [owner, added] =
        owners_.emplace(std::tuple(kTableOf<Row>, origin.source, origin.machine), file_);
    if (owner->second != file_) {
      sheet.fail("rows of source '" + printable(origin.source) +
                 "' came with another file of this import already; rename one of the files, or "
                 "import this one alone to replace them");
    }
    if (!added) return 0;
    if (!origin.machine.empty() && machines_.insert(origin.machine).second) {
      store_.put_machine({.id = origin.machine});
    }
    return static_cast<std::size_t>(forget_like(store_, row));
  }

 private:
  Store& store_;
  std::size_t file_ = 0;  // which one, from 1
  std::set<std::string> machines_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> owners_;
};

// One import: into which store, and what it has brought so far.
struct Import {
  Store& store;
  Meter& meter;
  Room room;
  std::vector<Imported> done{};
};

// Reads line by line with `read`, which appends to the rows of a line.
template <typename Row, typename Read>
Imported import_rows(Import& import, Sheet& sheet, const Read& read) {
  Imported imported{.file = sheet.file(), .table = kTableOf<Row>};
  std::vector<Row> rows;
  const auto write = [&] {
    imported.rows += rows.size();
    append(import.store, rows);
    rows.clear();
  };
  import.room.start_file();
  while (sheet.next()) {
    const std::size_t before = rows.size();
    read(rows);
    for (std::size_t i = before; i < rows.size(); ++i) {
      imported.replaced += import.room.make(rows[i], sheet);
    }
    if (rows.size() >= kAtOnce) write();
  }
  write();
  return imported;
}

template <typename Row>
bool has_columns(const Sheet& sheet) {
  bool all = true;
  const Row row;
  each_column(row, [&](const char* name, const auto&) { all = all && sheet.has(name); });
  return all;
}

template <typename Row>
Imported import_own(Import& import, Sheet& sheet) {
  return import_rows<Row>(import, sheet, [&](std::vector<Row>& rows) {
    rows.push_back(read_row<Row>(sheet));
    if constexpr (std::same_as<Row, Training>) {
      rows.back().file = sheet.has("file") ? sheet.cell("file") : sheet.file();
    }
  });
}

Imported import_sheet(Import& import, Sheet& sheet) {
  if (has_columns<Training>(sheet)) return import_own<Training>(import, sheet);
  if (has_columns<Operator>(sheet)) return import_own<Operator>(import, sheet);
  if (has_columns<Collective>(sheet)) return import_own<Collective>(import, sheet);
  if (const OperatorFormat* format = operator_format(sheet)) {
    return import_rows<Operator>(import, sheet, [&](std::vector<Operator>& rows) {
      for (Operator& row : operators_of(sheet, *format)) rows.push_back(std::move(row));
    });
  }
  if (is_collective_file(sheet)) {
    return import_rows<Collective>(import, sheet, [&](std::vector<Collective>& rows) {
      rows.push_back(collective_of(sheet));
    });
  }
  throw Error(ErrorKind::BadInput, "file " + printable(sheet.file()) +
                                       ": its columns are of no kind of file that can be imported; "
                                       "docs/store.md lists them");
}

Imported import_runs(Import& import, const fs::path& folder) {
  Imported imported{.file = "runs.csv", .table = "runs"};
  for (const auto& [id, record] : read_records(import.store, folder, import.meter)) {
    if (import.store.has_same(record.run)) {
      ++imported.skipped;
      continue;
    }
    import.store.append_run(record);
    ++imported.rows;
  }
  return imported;
}

void import_folder(Import& import, const fs::path& folder) {
  const std::size_t before = import.done.size();
  const auto there = [&](const char* file) { return fs::exists(folder / file); };
  const auto put_all = [&](const char* file, const char* table, auto put) {
    if (!there(file)) return;
    Sheet sheet(folder / file, import.meter);
    Imported& imported = import.done.emplace_back(Imported{.file = file, .table = table});
    for (; sheet.next(); ++imported.rows) put(sheet);
  };
  put_all("machines.csv", "machines",
          [&](const Sheet& sheet) { import.store.put_machine(read_row<Machine>(sheet)); });
  put_all("campaigns.csv", "campaigns",
          [&](const Sheet& sheet) { import.store.put_campaign(read_row<Campaign>(sheet)); });
  if (there("runs.csv") || there("metrics.csv") || there("steps.csv")) {
    import.done.push_back(import_runs(import, folder));
  }
  for (const char* file : {"operators.csv", "collectives.csv", "training.csv"}) {
    if (!there(file)) continue;
    Sheet sheet(folder / file, import.meter);
    import.done.push_back(import_sheet(import, sheet));
  }
  if (import.done.size() == before) {
    throw Error(ErrorKind::BadInput, "folder '" + printable(folder.string(), 200) +
                                         "' has none of the files that store export writes");
  }
}

}  // namespace

std::vector<Imported> import_paths(Store& store, const std::vector<fs::path>& paths,
                                   const OnLines& on_lines) {
  Meter meter(paths, on_lines);
  Import import{.store = store, .meter = meter, .room = Room(store)};
  store.in_transaction([&] {
    for (const fs::path& path : paths) {
      if (path != kStandardInput && fs::is_directory(path)) {
        import_folder(import, path);
      } else {
        Sheet sheet(path, meter);
        import.done.push_back(import_sheet(import, sheet));
      }
    }
  });
  return std::move(import.done);
}

}  // namespace foretrain::store

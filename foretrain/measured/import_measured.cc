// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/import_measured.h"

#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/measured/open_tables.h"

namespace foretrain::measured {
namespace {

namespace fs = std::filesystem;

template <typename Number>
std::optional<Number> number_in(const Row& row, const char* column, const std::string& where) {
  const std::string_view text = cell(row, column);
  if (text.empty()) return std::nullopt;
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
    throw Error(ErrorKind::BadInput, where + ": " + column + " is no number");
  }
  return value;
}

bool is_csv(const fs::path& path) {
  std::error_code none;
  return path == "-" || !fs::is_regular_file(path, none) || kind_of(path) == FileKind::Csv;
}

store::Imported import_runs(store::Store& store, Table& table) {
  store::Imported imported{.file = table.name(), .table = "runs"};
  for (Row row; table.next(row);) {
    const store::Run run = recorded_run(row, table.where());
    imported.file = run.campaign;
    if (store.has(run.campaign, run.configuration, run.repeat)) {
      ++imported.skipped;
      continue;
    }
    store.put_campaign({.name = run.campaign});
    store.put_machine({.id = run.machine});
    store.append_run({.run = run});
    ++imported.rows;
  }
  return imported;
}

}  // namespace

store::Run recorded_run(const Row& row, const std::string& where) {
  store::Run run;
  run.campaign = cell(row, "campaign");
  run.machine = cell(row, "machine");
  run.configuration = cell(row, "configuration");
  run.request = cell(row, "request");
  run.repeat = number_in<std::int64_t>(row, "repeat", where).value_or(0);
  run.started = cell(row, "started");
  run.steps = number_in<std::int64_t>(row, "steps", where);
  run.step_median_s = number_in<double>(row, "step_median_s", where);
  run.exposed_sync_s = number_in<double>(row, "exposed_sync_s", where);
  return run;
}

std::vector<store::Imported> import_measured(store::Store& store,
                                             const std::vector<fs::path>& paths,
                                             const std::string& request,
                                             const store::OnLines& on_lines) {
  std::vector<fs::path> sheets;
  std::vector<fs::path> others;
  for (const fs::path& path : paths) (is_csv(path) ? sheets : others).push_back(path);
  std::vector<store::Imported> done;
  store.in_transaction([&] {
    if (!sheets.empty()) done = store::import_paths(store, sheets, on_lines);
    for (const fs::path& path : others) {
      if (kind_of(path) == FileKind::Store) {
        throw Error(ErrorKind::BadInput,
                    "'" + path.string() + "' is a store; export it to a folder and import that");
      }
      for (Table& table : open_tables(path, request)) done.push_back(import_runs(store, table));
    }
  });
  return done;
}

}  // namespace foretrain::measured

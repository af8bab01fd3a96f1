// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/base/output_file.h"
#include "foretrain/base/output_folder.h"
#include "foretrain/store/columns.h"
#include "foretrain/store/detail/csv_rows.h"
#include "foretrain/store/detail/pack_samples.h"
#include "foretrain/store/exchange.h"

namespace foretrain::store {
namespace {

constexpr std::size_t kStepsPerLine = 10'000;  // a field of a CSV file may have 1 MiB

// Published numbers stay as they are.
template <typename Row>
constexpr bool kMeasured = !std::same_as<Row, Training>;

std::string cell_text(const std::string& text, bool /*measured*/) { return csv_field(text); }
std::string cell_text(double value, bool measured) {
  return measured ? rounded_text(value) : exact_text(value);
}
std::string cell_text(std::int64_t value, bool /*measured*/) { return std::to_string(value); }
template <typename T>
std::string cell_text(const std::optional<T>& maybe, bool measured) {
  return maybe ? cell_text(*maybe, measured) : "";
}

template <typename Row>
std::string line_of(const Row& row) {
  std::string line;
  bool first = true;
  each_column(row, [&](const char*, const auto& field) {
    line += (first ? "" : ",") + cell_text(field, kMeasured<Row>);
    first = false;
  });
  return line;
}

void round_numbers(Json& value) {
  if (value.is_number_float()) {
    value = parse_json(rounded_text(value.get<double>()));
  } else if (value.is_structured()) {
    for (Json& part : value) round_numbers(part);
  }
}

// What is no JSON stays as it is.
std::string rounded_json(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return text;
  round_numbers(value);
  return json_text(value);
}

template <typename Row>
void write_all(const std::vector<Row>& rows, std::ostream& out) {
  out << column_list<Row>() << '\n';
  for (const Row& row : rows) out << line_of(row) << '\n';
}

void write_runs(const Store& store, std::ostream& out) {
  out << "id," << column_list<Run>() << '\n';
  for (Run& run : store.runs()) {
    run.details = rounded_json(run.details);
    out << run.id << ',' << line_of(run) << '\n';
  }
}

void write_metrics(const Store& store, std::ostream& out) {
  out << "run," << column_list<Metric>() << '\n';
  for (const Run& run : store.runs({.status = "ok"})) {
    for (const Metric& metric : store.run(run.id).metrics) {
      out << run.id << ',' << line_of(metric) << '\n';
    }
  }
}

void write_steps(const Store& store, std::ostream& out) {
  out << "run,times_s\n";
  for (const Run& run : store.runs({.status = "ok"})) {
    const std::vector<double> times_s = store.run(run.id).step_times_s;
    for (std::size_t i = 0; i < times_s.size(); ++i) {
      if (i % kStepsPerLine == 0) {
        out << (i == 0 ? "" : "\n") << run.id << ',';
      } else {
        out << ' ';
      }
      out << rounded_text(times_s[i]);
    }
    if (!times_s.empty()) out << '\n';
  }
}

void write_samples(const Store& store, std::ostream& out) {
  out << "run," << column_list<Samples>() << ",packed\n";
  for (const Run& run : store.runs({.status = "ok"})) {
    for (const Samples& samples : store.run(run.id).samples) {
      out << run.id << ',' << line_of(samples) << ',' << base64(pack_samples(samples.values))
          << '\n';
    }
  }
}

void write_training(const Store& store, std::ostream& out) {
  out << column_list<Training>() << ",file\n";
  for (const Training& row : store.training())
    out << line_of(row) << ',' << csv_field(row.file) << '\n';
}

void write_table(const Store& store, const std::string& table, std::ostream& out) {
  if (table == "machines") return write_all(store.machines(), out);
  if (table == "campaigns") return write_all(store.campaigns(), out);
  if (table == "runs") return write_runs(store, out);
  if (table == "metrics") return write_metrics(store, out);
  if (table == "steps") return write_steps(store, out);
  if (table == "samples") return write_samples(store, out);
  if (table == "operators") return write_all(store.operators(), out);
  if (table == "collectives") return write_all(store.collectives(), out);
  write_training(store, out);
}

void write_file(const Store& store, const std::string& table, const std::filesystem::path& path) {
  std::ostringstream text;
  write_table(store, table, text);
  OutputFile out(path);
  out.write(text.view());
  out.commit();
}

}  // namespace

const std::vector<std::string>& export_tables() {
  static const std::vector<std::string> kTables{"machines",  "campaigns",   "runs",
                                                "metrics",   "steps",       "samples",
                                                "operators", "collectives", "training"};
  return kTables;
}

void check_table(const std::string& table) {
  const std::vector<std::string>& known = export_tables();
  if (std::find(known.begin(), known.end(), table) != known.end()) return;
  throw Error(ErrorKind::NotFound,
              "the store has no table '" + printable(table) + "'" + did_you_mean(table, known));
}

void export_table(const Store& store, const std::string& table, std::ostream& out) {
  check_table(table);
  store.in_snapshot([&] { write_table(store, table, out); });
}

std::vector<std::string> export_folder(const Store& store, const std::filesystem::path& folder) {
  std::vector<std::string> own;
  for (const std::string& table : export_tables()) own.push_back(table + ".csv");
  OutputFolder out(folder, std::move(own));
  std::vector<std::string> files;
  store.in_snapshot([&] {
    for (const std::string& table : export_tables()) {
      if (store.count(table) == 0) continue;
      files.push_back(table + ".csv");
      write_file(store, table, out.place(files.back()));
    }
  });
  out.commit();
  return files;
}

}  // namespace foretrain::store

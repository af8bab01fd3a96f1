// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/store.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/store/columns.h"
#include "foretrain/store/detail/database.h"
#include "foretrain/store/detail/pack_samples.h"
#include "foretrain/store/tables.h"

namespace foretrain::store {
namespace {

// "INSERT INTO t(extra,a,b) VALUES(?,?,?)"; `extra` is a column before those of the row.
template <typename Row>
std::string insert_sql(const std::string& extra = "", const char* verb = "INSERT") {
  const std::string columns = (extra.empty() ? "" : extra + ",") + column_list<Row>();
  std::string marks = "?";
  for (const char c : columns) marks += c == ',' ? ",?" : "";
  return std::string(verb) + " INTO " + kTableOf<Row> + "(" + columns + ") VALUES(" + marks + ")";
}

template <typename Row>
Statement& bind_row(Statement& statement, const Row& row) {
  each_column(row, [&](const char*, const auto& field) { statement.bind(field); });
  return statement;
}

template <typename Row>
void take_row(Statement& statement, Row& row) {
  each_column(row, [&](const char*, auto& field) { statement.take(field); });
}

template <typename Row>
std::vector<Row> all_rows(Statement& statement) {
  std::vector<Row> rows;
  while (statement.step()) take_row(statement, rows.emplace_back());
  return rows;
}

template <typename Row>
void append_all(const Database& database, std::span<const Row> rows) {
  Transaction transaction(database);
  Statement statement = database.prepare(insert_sql<Row>());
  for (const Row& row : rows) bind_row(statement, row).run();
  transaction.commit();
}

bool is_measured(std::string_view column) {
  return column == "time_s" || column == "spread_s" || column == "repeats";
}

// The same in place of rows that differ in what was measured alone.
template <typename Row>
void put_all(const Database& database, std::span<const Row> rows) {
  const Row any{};
  std::string sql = std::string("DELETE FROM ") + kTableOf<Row> + " WHERE 1";
  each_column(any, [&](const char* name, const auto&) {
    if (!is_measured(name)) sql += std::string(" AND ") + name + " IS ?";
  });
  Transaction transaction(database);
  Statement statement = database.prepare(sql);
  for (const Row& row : rows) {
    each_column(row, [&](const char* name, const auto& field) {
      if (!is_measured(name)) statement.bind(field);
    });
    statement.run();
  }
  append_all(database, rows);
  transaction.commit();
}

// Replaces the columns of the row with the same key, without deleting it: others refer to it. What
// says nothing replaces nothing.
template <typename Row>
void put(const Database& database, const char* key, const Row& row) {
  std::string sql = insert_sql<Row>() + " ON CONFLICT(" + key + ") DO UPDATE SET ";
  bool first = true;
  each_column(row, [&](const char* name, const auto&) {
    sql += std::string(first ? "" : ",") + name + "=coalesce(nullif(excluded." + name + ",'')," +
           kTableOf<Row> + "." + name + ")";
    first = false;
  });
  Statement statement = database.prepare(sql);
  bind_row(statement, row).run();
}

// Rows of one machine (file, ...), or all where `value` is empty.
template <typename Row>
std::vector<Row> rows_where(const Database& database, const char* column,
                            const std::string& value) {
  Statement statement = database.prepare("SELECT " + column_list<Row>() + " FROM " + kTableOf<Row> +
                                         " WHERE ?1='' OR " + column + "=?1 ORDER BY id");
  statement.bind(value);
  return all_rows<Row>(statement);
}

std::int64_t forget_measured(const Database& database, const std::string& table,
                             const std::string& source, const std::string& machine) {
  database.prepare("DELETE FROM " + table + " WHERE source=? AND machine=?")
      .bind(source)
      .bind(machine)
      .run();
  return database.changed_rows();
}

void append_steps(const Database& database, std::int64_t run, const std::vector<double>& times_s) {
  if (times_s.empty()) return;
  std::vector<float> compact;
  compact.reserve(times_s.size());
  for (const double time : times_s) compact.push_back(static_cast<float>(time));
  Statement statement = database.prepare("INSERT INTO steps(run,times_s) VALUES(?,?)");
  statement.bind(run).bind_blob(compact.data(), compact.size() * sizeof(float)).run();
}

std::vector<double> read_steps(const Database& database, std::int64_t run) {
  Statement statement = database.prepare("SELECT times_s FROM steps WHERE run=?");
  std::string bytes;
  if (statement.bind(run).step()) statement.take(bytes);
  std::vector<float> compact(bytes.size() / sizeof(float));
  if (compact.empty()) return {};  // a run that failed
  std::memcpy(compact.data(), bytes.data(), compact.size() * sizeof(float));
  return {compact.begin(), compact.end()};
}

void append_samples(const Database& database, std::int64_t run,
                    const std::vector<Samples>& samples) {
  Statement statement = database.prepare("INSERT INTO samples(run," + column_list<Samples>() +
                                         ",packed) VALUES(?,?,?,?,?,?,?,?)");
  for (const Samples& one : samples) {
    const std::string packed = pack_samples(one.values);
    bind_row(statement.bind(run), one).bind_blob(packed.data(), packed.size()).run();
  }
}

std::vector<Samples> read_samples(const Database& database, std::int64_t run) {
  Statement statement = database.prepare("SELECT " + column_list<Samples>() +
                                         ",packed FROM samples WHERE run=? ORDER BY role DESC,"
                                         "instance,resource");
  statement.bind(run);
  std::vector<Samples> samples;
  std::string packed;
  while (statement.step()) {
    take_row(statement, samples.emplace_back());
    statement.take(packed);
    samples.back().values = unpack_samples(packed);
  }
  return samples;
}

void check_record(const RunRecord& record) {
  const Run& run = record.run;
  for (const std::string* json : {&run.configuration, &run.request}) {
    const bool absent = json == &run.request && json->empty();
    if (absent || *json == canonical_json(*json)) continue;
    throw Error(
        ErrorKind::BadInput,
        "the configuration or request of a run is not in canonical form: " + printable(*json));
  }
  for (const double time_s : record.step_times_s) {
    if (is_step_time(time_s)) continue;
    throw Error(ErrorKind::BadInput,
                "a step of a run takes " + std::to_string(time_s) + " s; that is no time");
  }
}

// Whole numbers lose their fraction, so that 32 and 32.0 are one configuration.
void normalise(Json& value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < kExact) {
      value = static_cast<std::int64_t>(number);
    }
  } else if (value.is_structured()) {
    for (Json& part : value) normalise(part);
  }
}

}  // namespace

std::string canonical_json(const std::string& text) {
  Json value = parse_json(text, "configuration");
  normalise(value);
  return json_text(value);
}

Store::Store(const std::filesystem::path& path, OpenMode mode)
    : database_(std::make_unique<Database>(path, mode)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

void Store::put_machine(const Machine& machine) { put(*database_, "id", machine); }
void Store::put_campaign(const Campaign& campaign) { put(*database_, "name", campaign); }

std::int64_t Store::append_run(const RunRecord& record) {
  check_record(record);
  Transaction transaction(*database_);
  Statement insert = database_->prepare(insert_sql<Run>());
  bind_row(insert, record.run).run();
  const std::int64_t id = database_->last_id();
  Statement metric_insert = database_->prepare(insert_sql<Metric>("run"));
  for (const Metric& metric : record.metrics) bind_row(metric_insert.bind(id), metric).run();
  append_steps(*database_, id, record.step_times_s);
  append_samples(*database_, id, record.samples);
  transaction.commit();
  return id;
}

bool Store::has(const std::string& campaign, const std::string& configuration,
                std::int64_t repeat) const {
  Statement statement = database_->prepare(
      "SELECT 1 FROM runs WHERE campaign=? AND configuration=? AND repeat=? AND status='ok'");
  return statement.bind(campaign).bind(configuration).bind(repeat).step();
}

bool Store::has_same(const Run& run) const {
  if (run.status == "ok" && has(run.campaign, run.configuration, run.repeat)) return true;
  Statement statement = database_->prepare(
      "SELECT 1 FROM runs WHERE campaign=? AND machine=? AND configuration=? AND repeat=?"
      " AND started=? AND status=?");
  statement.bind(run.campaign).bind(run.machine).bind(run.configuration).bind(run.repeat);
  return statement.bind(run.started).bind(run.status).step();
}

void Store::append_operators(std::span<const Operator> rows) { append_all(*database_, rows); }
void Store::append_collectives(std::span<const Collective> rows) { append_all(*database_, rows); }

void Store::put_operators(std::span<const Operator> rows) { put_all(*database_, rows); }
void Store::put_collectives(std::span<const Collective> rows) { put_all(*database_, rows); }

void Store::append_training(std::span<const Training> rows) {
  Transaction transaction(*database_);
  Statement statement = database_->prepare(insert_sql<Training>("file"));
  for (const Training& row : rows) bind_row(statement.bind(row.file), row).run();
  transaction.commit();
}

std::int64_t Store::forget_operators(const std::string& source, const std::string& machine) {
  return forget_measured(*database_, kTableOf<Operator>, source, machine);
}

std::int64_t Store::forget_collectives(const std::string& source, const std::string& machine) {
  return forget_measured(*database_, kTableOf<Collective>, source, machine);
}

std::int64_t Store::forget_training(const std::string& file) {
  database_->prepare("DELETE FROM training WHERE file=?").bind(file).run();
  return database_->changed_rows();
}

void Store::in_transaction(const std::function<void()>& work) {
  Transaction transaction(*database_);
  work();
  transaction.commit();
}

void Store::in_snapshot(const std::function<void()>& work) const {
  Transaction transaction(*database_, TransactionKind::Read);
  work();
  transaction.commit();
}

std::vector<Machine> Store::machines() const {
  Statement statement =
      database_->prepare("SELECT " + column_list<Machine>() + " FROM machines ORDER BY rowid");
  return all_rows<Machine>(statement);
}

std::vector<Campaign> Store::campaigns() const {
  Statement statement =
      database_->prepare("SELECT " + column_list<Campaign>() + " FROM campaigns ORDER BY rowid");
  return all_rows<Campaign>(statement);
}

std::vector<Run> Store::runs(const Filter& filter) const {
  Statement statement = database_->prepare(
      "SELECT id," + column_list<Run>() +
      " FROM runs WHERE (?1='' OR campaign=?1) AND (?2='' OR machine=?2) AND (?3='' OR setting=?3)"
      " AND (?4='' OR split=?4) AND (?5='' OR status=?5) ORDER BY id");
  statement.bind(filter.campaign).bind(filter.machine).bind(filter.setting);
  statement.bind(filter.split).bind(filter.status);
  std::vector<Run> runs;
  while (statement.step()) {
    Run& run = runs.emplace_back();
    statement.take(run.id);
    take_row(statement, run);
  }
  return runs;
}

RunRecord Store::run(std::int64_t id) const {
  Statement statement =
      database_->prepare("SELECT " + column_list<Run>() + " FROM runs WHERE id=?");
  RunRecord record;
  if (!statement.bind(id).step()) {
    throw Error(ErrorKind::NotFound, "the store has no run " + std::to_string(id));
  }
  record.run.id = id;
  take_row(statement, record.run);
  Statement metrics = database_->prepare("SELECT " + column_list<Metric>() +
                                         " FROM metrics WHERE run=? ORDER BY role DESC,instance,"
                                         "resource");
  metrics.bind(id);
  record.metrics = all_rows<Metric>(metrics);
  record.step_times_s = read_steps(*database_, id);
  record.samples = read_samples(*database_, id);
  return record;
}

std::vector<Operator> Store::operators(const std::string& machine) const {
  return rows_where<Operator>(*database_, "machine", machine);
}

std::vector<Collective> Store::collectives(const std::string& machine) const {
  return rows_where<Collective>(*database_, "machine", machine);
}

std::vector<Training> Store::training(const std::string& file) const {
  Statement statement = database_->prepare("SELECT file," + column_list<Training>() +
                                           " FROM training WHERE ?1='' OR file=?1 ORDER BY id");
  statement.bind(file);
  std::vector<Training> rows;
  while (statement.step()) {
    Training& row = rows.emplace_back();
    statement.take(row.file);
    take_row(statement, row);
  }
  return rows;
}

std::int64_t Store::count(const std::string& table) const {
  check_table(table);
  Statement statement = database_->prepare("SELECT count(*) FROM " + table);
  std::int64_t rows = 0;
  if (statement.step()) statement.take(rows);
  return rows;
}

}  // namespace foretrain::store

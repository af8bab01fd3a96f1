// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/store/detail/schema.h"

namespace foretrain::store {
namespace {

constexpr int kBusyMilliseconds = 10'000;

std::string named(const std::string& path) { return "store '" + printable(path, 200) + "'"; }

// Whether SQLite cannot make the files by which readers and writers agree, and no writer has any:
// then it can only read the file as it stands. A writer that begins meanwhile would not be noticed.
bool is_fixed(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return !error && access(real.parent_path().c_str(), W_OK) != 0 &&
         !std::filesystem::exists(real.string() + "-wal", error);
}

std::string fixed_uri(const std::string& path) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return uri + "?immutable=1";
}

[[noreturn]] void throw_error(sqlite3* handle, int code, const std::string& path) {
  const std::string store = named(path);
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorKind::Io, store + " is in use by another program; wait until it is done");
    case SQLITE_NOTADB:
      throw Error(ErrorKind::BadInput, store + " is no SQLite file; name another file");
    case SQLITE_CORRUPT:
      throw Error(ErrorKind::Io, store + " is damaged or cut off; restore a copy of it");
    case SQLITE_READONLY:
      throw Error(ErrorKind::Io, store + " cannot be written; check its permissions");
    case SQLITE_FULL:
      throw Error(ErrorKind::Io, store + " cannot grow: the disk is full");
    case SQLITE_CANTOPEN:
      throw Error(ErrorKind::Io, store + " cannot be opened; check its folder and permissions");
    case SQLITE_CONSTRAINT:
      throw Error(ErrorKind::BadInput, store + " refuses a row: " + sqlite3_errmsg(handle));
    default:
      throw Error(ErrorKind::Io, store + ": " + sqlite3_errmsg(handle));
  }
}

}  // namespace

std::string store_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (name.empty()) {
    throw Error(ErrorKind::BadInput, "a store is a file; name one, such as foretrain.db");
  }
  if (name.starts_with(':') || name.starts_with("file:")) {
    throw Error(ErrorKind::BadInput, named(name) +
                                         " is no file name but SQLite's word for another place; "
                                         "name a file, such as foretrain.db");
  }
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(ErrorKind::BadInput, named(name) + " is no regular file; name another");
  }
  return std::filesystem::absolute(path, error).string();
}

Statement::Statement(sqlite3* database, const std::string& sql, std::string path)
    : database_(database), path_(std::move(path)) {
  const int code = sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()) + 1,
                                      &statement_, nullptr);
  if (code != SQLITE_OK) fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::fail(int code) const { throw_error(database_, code, path_); }

Statement& Statement::bind(const std::string& text) {
  const int code = sqlite3_bind_text64(statement_, ++parameter_, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  const int code = sqlite3_bind_int64(statement_, ++parameter_, number);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

Statement& Statement::bind(double number) {
  if (!std::isfinite(number)) {
    throw Error(ErrorKind::BadInput, named(path_) +
                                         " takes finite numbers only; leave out what is "
                                         "not known");
  }
  const int code = sqlite3_bind_double(statement_, ++parameter_, number);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

Statement& Statement::bind_blob(const void* data, std::size_t bytes) {
  const int code = sqlite3_bind_blob64(statement_, ++parameter_, data, bytes, SQLITE_TRANSIENT);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

Statement& Statement::bind_null() {
  const int code = sqlite3_bind_null(statement_, ++parameter_);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

bool Statement::step() {
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_);
  parameter_ = 0;
}

Statement& Statement::take(std::string& text) {
  const int column = column_++;
  const void* data = sqlite3_column_blob(statement_, column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  text.assign(static_cast<const char*>(data), bytes);
  return *this;
}

Statement& Statement::take(std::int64_t& number) {
  number = sqlite3_column_int64(statement_, column_++);
  return *this;
}

Statement& Statement::take(double& number) {
  number = sqlite3_column_double(statement_, column_++);
  return *this;
}

Statement& Statement::take(std::optional<double>& number) {
  const int column = column_++;
  number.reset();
  if (sqlite3_column_type(statement_, column) != SQLITE_NULL) {
    number = sqlite3_column_double(statement_, column);
  }
  return *this;
}

Statement& Statement::take(std::optional<std::int64_t>& number) {
  const int column = column_++;
  number.reset();
  if (sqlite3_column_type(statement_, column) != SQLITE_NULL) {
    number = sqlite3_column_int64(statement_, column);
  }
  return *this;
}

Database::Database(const std::filesystem::path& path, OpenMode mode) : path_(path.string()) {
  const std::string file = store_file(path);
  if (mode != OpenMode::Create && !std::filesystem::exists(path)) {
    throw Error(ErrorKind::NotFound, "there is no " + named(path_) + "; name an existing file");
  }
  // To read, too, the file is opened for writing where that is allowed (SQLite falls back by
  // itself): the last one to close it can then clear the log away.
  const bool fixed = mode == OpenMode::ReadOnly && is_fixed(path);
  int flags = SQLITE_OPEN_EXRESCODE;
  flags |= fixed ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;
  if (mode == OpenMode::Create) flags |= SQLITE_OPEN_CREATE;
  const std::string name = fixed ? fixed_uri(file) : file;
  try {
    const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
    if (code != SQLITE_OK) throw_error(handle_, code, path_);
    prepare_file(mode);
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::execute(const char* sql) const {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_error(handle_, code, path_);
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }

std::int64_t Database::changed_rows() const { return sqlite3_changes64(handle_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

std::int64_t Database::number(const char* sql) const {
  std::int64_t result = 0;
  Statement statement = prepare(sql);
  if (statement.step()) statement.take(result);
  return result;
}

void Database::prepare_file(OpenMode mode) {
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  check_identity(mode == OpenMode::Create);
  upgrade(mode);
  if (mode == OpenMode::ReadOnly) return execute("PRAGMA query_only=ON");
  execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
}

// Whether this is a store; an empty file becomes one. Two programs may try that at once: what the
// first one did is seen inside the second one's transaction.
void Database::check_identity(bool may_create) {
  const auto empty = [&] {
    return number("PRAGMA application_id") == 0 &&
           number("SELECT count(*) FROM sqlite_schema") == 0;
  };
  if (may_create && empty()) {
    Transaction transaction(*this);
    if (empty()) {
      execute(kSchema);
      execute(("PRAGMA application_id=" + std::to_string(kApplicationId) +
               "; PRAGMA user_version=" + std::to_string(kSchemaVersion))
                  .c_str());
    }
    transaction.commit();
  }
  if (empty()) {
    throw Error(ErrorKind::BadInput,
                named(path_) + " is an empty file; collect or import into it first");
  }
  if (number("PRAGMA application_id") != kApplicationId) {
    throw Error(ErrorKind::BadInput,
                named(path_) + " is a database of another program; name another file");
  }
  const std::int64_t version = number("PRAGMA user_version");
  if (version < 1 || version > kSchemaVersion) {
    throw Error(ErrorKind::Unsupported, named(path_) + " has version " + std::to_string(version) +
                                            " of the tables, this program knows " +
                                            std::to_string(kSchemaVersion) +
                                            "; use the program that wrote it");
  }
}

// Brings the tables of an older version up to date; who reads alone sees them so and leaves the
// file as it is.
void Database::upgrade(OpenMode mode) {
  const auto version = [&] { return static_cast<std::size_t>(number("PRAGMA user_version")); };
  if (version() == kSchemaVersion) return;
  if (mode == OpenMode::ReadOnly) {
    for (std::size_t v = version(); v < kSchemaVersion; ++v) execute(kUpgradedViews.at(v - 1));
    return;
  }
  Transaction transaction(*this);
  for (std::size_t v = version(); v < kSchemaVersion; ++v) execute(kUpgrades.at(v - 1));
  execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
  transaction.commit();
}

Transaction::Transaction(const Database& database, TransactionKind kind)
    : database_(database), open_(!database.in_transaction()) {
  if (open_) database_.execute(kind == TransactionKind::Write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Error&) {  // SQLite has rolled back by itself
  }
}

void Transaction::commit() {
  if (open_) database_.execute("COMMIT");
  open_ = false;
}

}  // namespace foretrain::store

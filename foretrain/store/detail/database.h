// SPDX-License-Identifier: Apache-2.0
// For the .cc files of this folder: SQLite with our errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "foretrain/store/open_mode.h"

struct sqlite3;
struct sqlite3_stmt;

namespace foretrain::store {

// A statement being run. Values are bound, never pasted into the text.
class Statement {
 public:
  Statement(sqlite3* database, const std::string& sql, std::string path);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds the next parameter, from the left.
  Statement& bind(const std::string& text);
  Statement& bind(std::int64_t number);
  Statement& bind(double number);  // what is not finite is an Error(BadInput)
  Statement& bind_blob(const void* data, std::size_t bytes);
  template <typename T>
  Statement& bind(const std::optional<T>& maybe) {
    return maybe ? bind(*maybe) : bind_null();
  }
  Statement& bind_null();

  bool step();  // true: a row is there
  void run();   // to the end, then ready for the next values

  // The next column of the row, from the left.
  Statement& take(std::string& text);
  Statement& take(std::int64_t& number);
  Statement& take(double& number);
  Statement& take(std::optional<double>& number);
  Statement& take(std::optional<std::int64_t>& number);

 private:
  [[noreturn]] void fail(int code) const;

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  std::string path_;
  int parameter_ = 0;
  int column_ = 0;
};

// The absolute path of a store. SQLite takes some names for something else than a file ("",
// ":memory:", "file:x?mode=memory"), and what is written there is gone when the program ends:
// these, and what is there but no regular file, are an Error(BadInput).
std::string store_file(const std::filesystem::path& path);

class Database {
 public:
  Database(const std::filesystem::path& path, OpenMode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Statement prepare(const std::string& sql) const { return {handle_, sql, path_}; }
  void execute(const char* sql) const;
  std::int64_t last_id() const;
  std::int64_t changed_rows() const;  // by the last statement that wrote
  bool in_transaction() const;

 private:
  void prepare_file(OpenMode mode);
  void check_identity(bool may_create);
  void upgrade(OpenMode mode);
  std::int64_t number(const char* sql) const;

  sqlite3* handle_ = nullptr;
  std::string path_;
};

enum class TransactionKind { Write, Read };

// All of what happens between the constructor and `commit`, or nothing; what is read meanwhile is
// of one moment. Reading locks nobody out. Inside another transaction it does nothing: the outer
// one decides.
class Transaction {
 public:
  explicit Transaction(const Database& database, TransactionKind kind = TransactionKind::Write);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
  bool open_;
};

}  // namespace foretrain::store

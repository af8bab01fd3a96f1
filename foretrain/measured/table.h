// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/base/csv.h"
#include "foretrain/measured/row.h"

namespace foretrain::measured {

// Rows with named columns, read one by one: a CSV file, a table of a store, or rows in memory.
class Table {
 public:
  // Throws Error(Io) where it cannot be opened, BadInput for a malformed or repeated column name.
  explicit Table(const std::filesystem::path& csv);
  // CSV of `bytes` bytes that is no file. `where` begins every message.
  Table(std::string name, std::string where, std::unique_ptr<std::istream> csv,
        std::uintmax_t bytes);
  Table(std::string name, std::string where, std::vector<std::string> columns,
        std::vector<Row> rows);

  const std::string& name() const { return name_; }            // a file's without its ending
  const std::string& where() const { return where_; }          // "file runs.csv", for messages
  const std::filesystem::path& path() const { return path_; }  // of its file; "" where it is none
  const std::vector<std::string>& columns() const { return *columns_; }

  // The columns of a training measurement that it lacks; "" where it has all.
  std::string missing_columns() const;

  // Gives columns the names that mappings know them by; those that are not there stay out.
  void rename(const std::vector<std::pair<std::string, std::string>>& names);

  // The next row, or false at the end. Throws Error(BadInput) naming the line where it has more
  // or fewer fields than the first one.
  bool next(Row& row);

  std::uintmax_t all_bytes() const { return all_bytes_; }
  std::uintmax_t bytes() const { return reader_ ? reader_->bytes() : all_bytes_; }  // read so far

 private:
  void read_columns();

  std::string name_;
  std::string where_;
  std::filesystem::path path_;
  std::uintmax_t all_bytes_ = 0;
  std::unique_ptr<std::istream> in_;
  std::unique_ptr<CsvReader> reader_;
  std::unique_ptr<std::vector<std::string>> columns_;  // rows point to them, wherever this moves
  std::vector<Row> rows_;                              // in place of a reader
  std::size_t next_ = 0;
};

}  // namespace foretrain::measured

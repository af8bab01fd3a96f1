// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/base/csv.h"
#include "foretrain/evaluate/row.h"

namespace foretrain::evaluate {

// A CSV file of training measurements, read row by row.
class TrainingFile {
 public:
  // Throws Error(Io) where it cannot be opened, BadInput for a malformed or repeated column name.
  explicit TrainingFile(const std::filesystem::path& path);

  // The columns of a training measurement that it lacks; "" where it has all.
  std::string missing_columns() const;
  const std::vector<std::string>& columns() const { return columns_; }

  // Gives columns the names that mappings know them by; those that are not there stay out.
  void rename(const std::vector<std::pair<std::string, std::string>>& names);

  // The next row, or false at the end. Throws Error(BadInput) naming the line where it has more
  // or fewer fields than the first one.
  bool next(Row& row);

  std::size_t bytes() const { return reader_->bytes(); }  // read so far

 private:
  std::string name_;
  std::unique_ptr<std::ifstream> in_;
  std::unique_ptr<CsvReader> reader_;
  std::vector<std::string> columns_;
};

}  // namespace foretrain::evaluate

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/measured/mapping.h"
#include "foretrain/measured/measurement.h"
#include "foretrain/measured/table.h"

namespace foretrain::measured {

// The measurements of a table whose rows tell of whole jobs: runs, or training measurements of
// others by their mapping. Rows are read one by one, so tables may be large.
class Measurements {
 public:
  // Which entries of a file (or campaign) are read; the others are not even mapped.
  using Wanted = std::function<bool(const std::string& file, const std::string& source)>;

  // Throws Error where the table's mapping is wrong: find_mapping, check_columns.
  explicit Measurements(Table& table, Wanted wanted = {});

  // Why nothing of the table can be read; "" where it can.
  const std::string& obstacle() const { return obstacle_; }

  // The measurements of the next wanted row, or false at the end. A run may tell several numbers.
  // Throws Error(BadInput) naming the line.
  bool next(std::vector<Measurement>& found);

 private:
  const Mapping* mapping_for(const std::string& file);

  Table& table_;
  Wanted wanted_;
  bool runs_ = false;
  bool collected_ = false;  // training measurements of several files, which a column names
  std::string obstacle_;
  std::map<std::string, std::optional<Mapping>> mappings_;  // by file
};

}  // namespace foretrain::measured

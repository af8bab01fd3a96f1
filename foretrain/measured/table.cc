// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/table.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::measured {
namespace {

constexpr auto kColumns = std::to_array<std::string_view>(
    {"source", "framework", "model", "task_dataset", "gpu", "gpus", "nodes", "gpus_per_node",
     "interconnect", "precision", "batch_per_gpu", "global_batch", "metric", "value", "unit",
     "parallelism", "notes"});
constexpr std::size_t kColumnsNamed = 3;  // in a message

}  // namespace

Table::Table(const std::filesystem::path& csv)
    : name_(csv.stem().string()),
      where_("file " + printable(csv.filename().string())),
      path_(csv),
      in_(std::make_unique<std::ifstream>(csv, std::ios::binary)) {
  if (!*in_) throw Error(ErrorKind::Io, "cannot read '" + printable(csv.string()) + "'");
  std::error_code unknown;  // a pipe has no size
  const std::uintmax_t size = std::filesystem::file_size(csv, unknown);
  if (!unknown) all_bytes_ = size;
  read_columns();
}

Table::Table(std::string name, std::string where, std::unique_ptr<std::istream> csv,
             std::uintmax_t bytes)
    : name_(std::move(name)), where_(std::move(where)), all_bytes_(bytes), in_(std::move(csv)) {
  read_columns();
}

Table::Table(std::string name, std::string where, std::vector<std::string> columns,
             std::vector<Row> rows)
    : name_(std::move(name)),
      where_(std::move(where)),
      columns_(std::make_unique<std::vector<std::string>>(std::move(columns))),
      rows_(std::move(rows)) {}

void Table::read_columns() {
  reader_ = std::make_unique<CsvReader>(*in_, where_);
  columns_ = std::make_unique<std::vector<std::string>>();
  reader_->next(*columns_);
  for (auto here = columns_->begin(); here != columns_->end(); ++here) {
    if (std::find(columns_->begin(), here, *here) != here) {
      throw Error(ErrorKind::BadInput,
                  where_ + ", line 1: column '" + printable(*here) + "' is there twice");
    }
  }
}

std::string Table::missing_columns() const {
  std::string missing;
  std::size_t count = 0;
  for (const std::string_view column : kColumns) {
    if (std::find(columns_->begin(), columns_->end(), column) != columns_->end()) continue;
    if (++count <= kColumnsNamed) missing += (missing.empty() ? "" : ", ") + std::string(column);
  }
  if (count > kColumnsNamed) missing += " and " + std::to_string(count - kColumnsNamed) + " more";
  return missing;
}

void Table::rename(const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [theirs, ours] : names) {
    std::replace(columns_->begin(), columns_->end(), theirs, ours);
  }
}

bool Table::next(Row& row) {
  if (!reader_) {
    if (next_ == rows_.size()) return false;
    row = rows_[next_++];
    row.columns = columns_.get();
    return true;
  }
  row.columns = columns_.get();
  if (!reader_->next(row.cells)) return false;
  row.line = reader_->line();
  if (row.cells.size() != columns_->size()) {
    throw Error(ErrorKind::BadInput,
                where_ + ", line " + std::to_string(row.line) + ": " +
                    std::to_string(row.cells.size()) + " fields where the first line has " +
                    std::to_string(columns_->size()) + "; is the line cut off or a quote missing?");
  }
  return true;
}

}  // namespace foretrain::measured

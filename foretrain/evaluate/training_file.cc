// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/training_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::evaluate {
namespace {

constexpr auto kColumns = std::to_array<std::string_view>(
    {"source", "framework", "model", "task_dataset", "gpu", "gpus", "nodes", "gpus_per_node",
     "interconnect", "precision", "batch_per_gpu", "global_batch", "metric", "value", "unit",
     "parallelism", "notes"});
constexpr std::size_t kColumnsNamed = 3;  // in a message

}  // namespace

TrainingFile::TrainingFile(const std::filesystem::path& path)
    : name_("file " + printable(path.filename().string())),
      in_(std::make_unique<std::ifstream>(path, std::ios::binary)) {
  if (!*in_) throw Error(ErrorKind::Io, "cannot read '" + printable(path.string()) + "'");
  reader_ = std::make_unique<CsvReader>(*in_, name_);
  reader_->next(columns_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto here = columns_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(columns_.begin(), here, *here) != here) {
      throw Error(ErrorKind::BadInput,
                  name_ + ", line 1: column '" + printable(*here) + "' is there twice");
    }
  }
}

std::string TrainingFile::missing_columns() const {
  std::string missing;
  std::size_t count = 0;
  for (const std::string_view column : kColumns) {
    if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) continue;
    if (++count <= kColumnsNamed) missing += (missing.empty() ? "" : ", ") + std::string(column);
  }
  if (count > kColumnsNamed) missing += " and " + std::to_string(count - kColumnsNamed) + " more";
  return missing;
}

void TrainingFile::rename(const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [theirs, ours] : names) {
    std::replace(columns_.begin(), columns_.end(), theirs, ours);
  }
}

bool TrainingFile::next(Row& row) {
  row.columns = &columns_;
  if (!reader_->next(row.cells)) return false;
  row.line = reader_->line();
  if (row.cells.size() != columns_.size()) {
    throw Error(ErrorKind::BadInput,
                name_ + ", line " + std::to_string(row.line) + ": " +
                    std::to_string(row.cells.size()) + " fields where the first line has " +
                    std::to_string(columns_.size()) + "; is the line cut off or a quote missing?");
  }
  return true;
}

}  // namespace foretrain::evaluate

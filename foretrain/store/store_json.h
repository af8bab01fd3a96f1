// SPDX-License-Identifier: Apache-2.0
// What `foretrain store` prints with --json. Columns are fields, what is absent is null.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

namespace foretrain::store {

struct StoreSummary {
  std::vector<std::pair<std::string, std::int64_t>> tables;     // with how many rows
  std::map<std::string, std::map<std::string, int>> campaigns;  // with how many runs, by status
};

StoreSummary summarise(const Store& store);

std::string summary_json(const StoreSummary& summary);
std::string runs_json(const std::vector<Run>& runs);
std::string record_json(const RunRecord& record);
std::string imported_json(const std::vector<Imported>& files);
std::string exported_json(const std::vector<std::string>& files);

// The rows of a table, numbers in full; metrics and steps as in an export. Throws Error(NotFound).
std::string table_json(const Store& store, const std::string& table);

}  // namespace foretrain::store

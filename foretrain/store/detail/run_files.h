// SPDX-License-Identifier: Apache-2.0
// For the .cc files of this folder: the runs of an export.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>

#include "foretrain/store/detail/csv_rows.h"
#include "foretrain/store/store.h"

namespace foretrain::store {

// Runs of runs.csv with what metrics.csv and steps.csv say of them, by their numbers there. Throws
// Error(BadInput), naming file and line, for what the store would not take: a machine or campaign
// that it does not know, a metric that is there twice.
std::map<std::int64_t, RunRecord> read_records(const Store& store,
                                               const std::filesystem::path& folder, Meter& meter);

}  // namespace foretrain::store

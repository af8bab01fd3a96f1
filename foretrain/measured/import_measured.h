// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/measured/row.h"
#include "foretrain/store/exchange.h"

namespace foretrain::measured {

// A row of step_table or trace_table as a run of the store.
store::Run recorded_run(const Row& row, const std::string& where);

// Takes all of `paths` or nothing into the store: what store::import_paths takes, JSON lines of
// measured steps and a profiler's trace with its `request` (JSON; "" where there is no trace). A
// step is a run of a campaign with its file's name, on a machine with its device's name; a line
// that came with an earlier import of the file is skipped, so a file that grows may come again.
// Throws Error as import_paths and open_tables do.
std::vector<store::Imported> import_measured(store::Store& store,
                                             const std::vector<std::filesystem::path>& paths,
                                             const std::string& request = "",
                                             const store::OnLines& on_lines = {});

}  // namespace foretrain::measured

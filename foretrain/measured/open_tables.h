// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/measured/table.h"

namespace foretrain::measured {

// What was measured, however it is kept, told apart by its content:
//   a store             its runs, operators, collectives and training measurements
//   a folder            every .csv and .jsonl file in it; of an export what a store gives
//   JSON lines          measured steps (step_file.h), as runs
//   a profiler's trace  its median step, as a run of `request` (JSON)
//   any other file      is CSV
// Throws Error: NotFound for what is not there, BadInput for a trace without its request, Io.
std::vector<Table> open_tables(const std::filesystem::path& data, const std::string& request = "");

enum class FileKind { Csv, Store, Steps, Trace };

// Throws Error(Io).
FileKind kind_of(const std::filesystem::path& file);

}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "foretrain/fit/conformal.h"
#include "foretrain/fit/intervals.h"
#include "foretrain/knowledge/memory_intervals.h"

namespace foretrain::fit {

struct FittedMemoryIntervals {
  MemoryIntervals intervals;
  Rule rule;
  std::vector<JudgedCase> cases;  // `file` of each is its source: "finetune/litgpt"
  std::vector<SourceScore> sources;
};

// Predicts every row of the training files in `data` that is compared with memory, with what is in
// use. A source is what a row's column `source` names, within its file. Throws Error as evaluate()
// does, and BadInput where fewer than three sources have such rows.
FittedMemoryIntervals fit_memory_intervals(const std::filesystem::path& data,
                                           const ConformalOptions& options, const Library& library);

}  // namespace foretrain::fit

// SPDX-License-Identifier: Apache-2.0
// Memory that is taken before the first tensor (data/predictors/memory_context.json) from the
// memory that devices were seen to use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"

namespace foretrain::fit {

// A number that rows decided.
struct FittedContextNumber {
  std::string name;  // "gpu_bytes.turing"
  std::size_t rows = 0;
  double before = 0;  // bytes
  double after = 0;
};

struct FittedContext {
  memory::ContextBytes context;
  std::vector<FittedContextNumber> numbers;
};

// Of each architecture, of CPUs, and of collectives the median of what a device used beyond the
// predicted tensors: rows of `data` (measured/open_tables.h) that are compared with
// memory_peak_bytes, as nvidia-smi shows it. Rows of one worker decide an architecture, those of
// several what collectives add to it. What a framework counts itself (memory_allocated_bytes,
// memory_reserved_bytes) has no context in it and is not used, nor are devices and requests that
// state their own. Throws Error: NotFound where no row is left; what evaluate throws.
FittedContext fit_memory_context(const std::filesystem::path& data, const Library& library);

}  // namespace foretrain::fit

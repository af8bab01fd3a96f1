// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foretrain/memory/lifetimes.h"

namespace foretrain::memory {

// What PyTorch's caching allocator has reserved after as many steps as it takes until one asks
// for nothing new. `step` is what `events` gives.
double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step);

// The same where a step runs `passes` of several micro-batches: each has storages of its own but
// for those that outlive its last pass, which the first one asks for and the step gives back.
double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step,
                      const std::vector<MicroBatchPass>& passes);

// The same after one step for each of `shares`, in which what varies is that share of its size.
double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step,
                      const std::vector<double>& shares);

}  // namespace foretrain::memory

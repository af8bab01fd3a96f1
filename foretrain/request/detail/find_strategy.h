// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/request/request.h"

namespace foretrain {

// Ranks that each work on samples of their own. Throws Error where the workers cannot be divided
// so.
int find_data_parallel(const Strategy& strategy, int workers);

// Every copy of the parameters lies on equally many ranks. Throws Error.
void check_shard_group(const Strategy& strategy, int ranks);

// What a pipeline's schedule can do with a step of so many passes. Throws Error.
void check_pipeline(const Strategy& strategy, std::int64_t passes,
                    std::vector<std::string>& assumptions);

// Says which fields were given that this strategy, or inference, has no use for.
void note_without_effect(const Request& request, std::vector<std::string>& assumptions);

// Says where gradients are exchanged in another type than `gradient_precision`. `flat_shards`: as
// the framework has it; `half_gradients`: theirs are 16 bits.
void note_gradient_precision(const Request& request, bool flat_shards, bool half_gradients,
                             std::vector<std::string>& assumptions);

}  // namespace foretrain

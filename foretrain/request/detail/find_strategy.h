// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/request/resolve.h"

namespace foretrain {

// Ranks that each work on samples of their own. Throws Error where the workers cannot be divided
// so.
int find_data_parallel(const Strategy& strategy, int workers);

// Every copy of the parameters lies on equally many ranks. Throws Error.
void check_shard_group(const Strategy& strategy, int ranks);

// What a pipeline's schedule can do. Throws Error.
void check_pipeline(const Request& request, Resolved& resolved);

// Says which fields were given that this strategy has no use for.
void note_without_effect(const Strategy& strategy, std::vector<std::string>& assumptions);

}  // namespace foretrain

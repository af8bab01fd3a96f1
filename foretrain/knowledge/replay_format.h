// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace foretrain {

// Of data/predictors/replay.json, which the inspector reads (inspector/replay_constants.h). An
// inspector was fitted on the features of one such file, so it counts among the constants in use.
inline constexpr std::string_view kReplayFormat = "foretrain-replay";

}  // namespace foretrain

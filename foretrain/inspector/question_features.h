// SPDX-License-Identifier: Apache-2.0
// The features of a question, with those that need more than the step's timeline.
#pragma once

#include "foretrain/engine/engine.h"
#include "foretrain/inspector/features.h"

namespace foretrain::inspector {

// How the logarithm of the memory that a role's process needs is called among the features.
inline constexpr std::string_view kMemoryFeature = "log_memory";

// features_of, and log_memory: of a worker its predicted peak; of a server the framework and its
// part of the parameters with their gradients and optimizer states.
Features question_features(const Question& question, Role role,
                           const std::array<Replayed, kResources.size()>& replayed);

}  // namespace foretrain::inspector

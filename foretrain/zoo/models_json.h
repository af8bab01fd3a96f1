// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "foretrain/zoo/model.h"

namespace foretrain::zoo {

// What `foretrain models --json` prints: [{"name": ..., "family": ..., "about": ..., "parameters":
// ...}, ...].
std::string models_json(std::span<const Model* const> models);

}  // namespace foretrain::zoo

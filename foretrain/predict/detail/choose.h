// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/engine/engine.h"

namespace foretrain {

// A number, the engine that it is taken from, and why from that one.
struct Chosen {
  Target target;
  std::string_view engine;
  std::string why;
};

// Why, where there is no choice.
inline constexpr std::string_view kOnlyEngine = "the only engine that answers";

// For each number that any engine tells: of the engines whose domain contains the request, the one
// with the narrowest calibrated interval (the smallest high / low); otherwise operators. `engine`
// names the only one that counts besides operators, or is "auto".
std::vector<Chosen> choose(const std::vector<Answer>& answers, std::string_view engine);

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
// Why a worker among others is slower than a worker alone: stragglers, and neighbours on its node.
// data/predictors/straggling.json has the numbers in use, each with its source.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/number_file.h"

namespace foretrain::cost {

struct Straggling {
  // Of one GPU's steps: standard deviation of their time over its mean.
  double step_variation = 0;
  // By how much each further device of a node slows those down that share a host without reaching
  // each other's memory.
  double shared_node_slowdown = 0;
};

// Every number in the order of the file. Pointers into `straggling`.
std::vector<NumberPlace> named_numbers(Straggling& straggling);

inline constexpr std::string_view kStragglingFormat = "foretrain-straggling";

// Throws Error(BadInput) naming `where`.
Straggling read_straggling(std::string_view text, const std::string& where);
std::string write_straggling(const Straggling& straggling, std::span<const std::string> notes);

}  // namespace foretrain::cost

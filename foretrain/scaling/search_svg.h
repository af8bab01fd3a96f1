// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/scaling/search.h"

namespace foretrain::scaling {

// A search as a picture: the goal of every run in their order, on a logarithmic axis, the best so
// far as a line; runs that are no answer are hollow, those that failed lie on the upper edge.
std::string search_svg(const SearchSpace& space, const std::vector<Tried>& history,
                       const SearchOptions& options);

}  // namespace foretrain::scaling

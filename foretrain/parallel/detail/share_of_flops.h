// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "foretrain/graph/graph.h"

namespace foretrain::parallel {

// Of the FLOPs of a model's graph at one sample, the share of the nodes that count.
double share_of_flops(const graph::Graph& model, const std::function<bool(std::size_t)>& counts);

}  // namespace foretrain::parallel

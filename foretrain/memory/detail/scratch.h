// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/memory/options.h"

namespace foretrain::memory {

// Bytes that a node's kernels use while they run, beside inputs and outputs. Zero where nothing
// is known. Source: docs/models/memory.md.
double scratch_bytes(const graph::NodeView& node, const Options& options);

// Values per parameter, in fp32 or in the type of its states, that an optimizer's update holds for
// a moment: for all parameters at once on a GPU (PyTorch's foreach implementation).
int update_temporaries(graph::Optimizer optimizer);

// The same of optimizers that update one parameter after the other.
int update_temporaries_of_one(graph::Optimizer optimizer);

}  // namespace foretrain::memory

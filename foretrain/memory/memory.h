// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"
#include "foretrain/memory/options.h"

namespace foretrain::memory {

// Bytes at the moment of the step's peak. The parts before `allocated` add up to it;
// `allocated` + `fragmentation` is what the allocator has reserved.
struct Use {
  double parameters = 0;  // and buffers
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;  // inputs, what is saved for backward, temporaries
  double workspace = 0;
  double allocated = 0;
  double fragmentation = 0;
};

// Peak memory of one worker that runs `step` again and again: liveness over the step, then
// the caching allocator's behaviour. Source: docs/models/memory.md.
Use step_memory(const graph::Bound& step, const Options& options);

}  // namespace foretrain::memory

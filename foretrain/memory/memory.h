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
  double needed = 0;  // the largest sum of all but workspaces, which convolutions can do without
};

// Peak memory of one worker that runs `step` again and again: liveness over the step, then
// the caching allocator's behaviour. Source: docs/models/memory.md.
Use step_memory(const graph::Bound& step, const Options& options);

// Whether the step runs where `limit` bytes are left for it. The allocator then gives cached memory
// back, but for a share of what is needed that stays lost between blocks, and algorithms get the
// workspace that is left. `use` becomes what is in use there: at most `limit`.
bool squeeze(Use& use, double limit, double lost_share);

}  // namespace foretrain::memory

// SPDX-License-Identifier: Apache-2.0
// How long the passes of a pipeline's stage take, read off the timeline of that stage alone.
#pragma once

#include <vector>

#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// Where the passes of a stage's step begin and end, as nodes.
struct PassNodes {
  std::vector<graph::NodeId> forward;   // the first of each part's forward pass, then their end
  std::vector<graph::NodeId> backward;  // likewise, the last part first
  graph::NodeId update = 0;             // the first of the update
};
PassNodes pass_nodes(const graph::Graph& step, int parts);

// The passes of one micro-batch, by part.
struct MicroBatchPasses {
  std::vector<Pass> forward;
  std::vector<Pass> backward;
};

struct StagePasses {
  Pass start;             // gradients are zeroed
  MicroBatchPasses each;  // of every micro-batch but the last
  MicroBatchPasses last;  // beside its backward passes gradients are exchanged
  Pass exchange;          // what is left of that
  Pass update;
  std::vector<double> sent_forward_bytes;   // by each part to the next
  std::vector<double> sent_backward_bytes;  // by each part to the one before
};

// `alone` has so many passes: one, or two of which the first stands for all but the last.
StagePasses time_passes(const Stages& alone, int parts, std::int64_t passes);

// The sum of a stage's passes in a step with so many micro-batches.
Seconds busy_time(const StagePasses& stage, std::int64_t micro_batches);

}  // namespace foretrain::operators

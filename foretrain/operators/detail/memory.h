// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/memory/options.h"
#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// Of mixed devices the one whose memory decides whether the job fits.
const hw::Device& smallest_device(const Resolved& resolved);

// Peak memory of the device with the smallest one, and whether the job fits. `held_bytes`: what
// other micro-batches keep meanwhile; `passes`: theirs and its own, as the allocator sees them.
MemoryReport report_memory(const graph::Bound& step, const Resolved& resolved,
                           double held_bytes = 0, std::vector<memory::MicroBatchPass> passes = {});

// Peak memory of one rank.
struct RankMemory {
  int stage = 0;          // of a pipeline
  double held_bytes = 0;  // for backward passes of other micro-batches
  MemoryReport report;
};

RankMemory stage_memory(const std::vector<PipelineStage>& pipeline, int stage,
                        const Resolved& resolved);

// Of the stage that needs most. Of stages that are alike an earlier one never needs less.
RankMemory most_memory(const std::vector<PipelineStage>& pipeline, const Resolved& resolved);

// The stages of a step that is cut, bound to the request's micro-batch.
std::vector<PipelineStage> bind_stages(const Step& step, const Resolved& resolved);

}  // namespace foretrain::operators

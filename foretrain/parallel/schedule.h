// SPDX-License-Identifier: Apache-2.0
// In which order the stages of a pipeline run the passes of a step's micro-batches: GPipe, 1F1B or
// interleaved. What a stage waits between them is the pipeline bubble.
#pragma once

#include <cstdint>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

enum class PassOrder : std::uint8_t {
  GPipe,     // all forward passes, then all backward passes. Source: Huang et al., NeurIPS 2019.
  OneFOneB,  // after p - s - 1 forward passes they alternate. Source: PipeDream-Flush, ICML 2021.
  Forward,   // inference: there are no backward passes
};

// A pipeline: `stages` ranks with `parts` parts of the model each, part k of stage s being the
// model's part k * stages + s.
struct Pipeline {
  int stages = 1;
  int parts = 1;  // of a stage; above 1: interleaved. Source: Narayanan et al., SC 2021.
  std::int64_t micro_batches = 1;
  PassOrder order = PassOrder::OneFOneB;
};

Pipeline pipeline_of(const Resolved& resolved);

// A pass of one micro-batch through one part.
struct PipelinePass {
  bool backward = false;
  int part = 0;  // of the stage
  std::int64_t micro_batch = 0;
};

// All passes of a stage, in their order. Interleaved 1F1B is Megatron-LM's: groups of as many
// micro-batches as there are stages go through part after part.
std::vector<PipelinePass> passes_of(const Pipeline& pipeline, int stage);

// The most that wait for their backward pass at once, each counted with what its part keeps.
//
//   1F1B, one part       min(m, p - s)
//   GPipe                m
//   interleaved          min(m v, 2 (p - s - 1) + (v - 1) p + 1); m v where m = p
//
// p: stages, s: stage from 0, m: micro-batches, v: parts.
double most_kept(const Pipeline& pipeline, int stage, const std::vector<double>& kept_by_part);

// Tensors on their way from a stage to a neighbour, the last one's to the first where a stage has
// several parts: alone on the link, but for those of the ranks beside it.
struct StageLink {
  comm::Link link;
  double sent_by_node = 0;  // bytes that leave a node for each byte that a rank sends; 0: none do
  int pieces = 1;           // ranks that hold the same, of which each sends a piece
  comm::Link gathered{};    // over which they gather the pieces then
};
StageLink stage_link(const Resolved& resolved, int from, int to);
Seconds send_time(double bytes, const StageLink& link);

// Of the all-reduce of a parameter that stages share.
Seconds reduce_shared(double bytes, const std::vector<int>& stages, const Resolved& resolved);

}  // namespace foretrain::parallel

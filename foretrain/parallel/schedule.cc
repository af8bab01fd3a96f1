// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/schedule.h"

#include <algorithm>
#include <cstdlib>

#include "foretrain/comm/all_gather.h"
#include "foretrain/comm/all_reduce.h"
#include "foretrain/comm/path.h"
#include "foretrain/comm/point_to_point.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

// The i-th forward or backward pass of a stage with several parts.
PipelinePass interleaved(const Pipeline& pipeline, std::int64_t i, bool backward) {
  const std::int64_t together = std::int64_t{pipeline.stages} * pipeline.parts;
  const auto part = static_cast<int>(i % together / pipeline.stages);
  return {backward, backward ? pipeline.parts - 1 - part : part,
          i / together * pipeline.stages + i % pipeline.stages};
}

// Forward passes of a stage before its first backward pass, the one right before it apart.
std::int64_t warm_up(const Pipeline& pipeline, int stage) {
  const std::int64_t all = pipeline.micro_batches * pipeline.parts;
  if (pipeline.order != PassOrder::OneFOneB) return all;
  const std::int64_t behind = pipeline.stages - stage - 1;
  if (pipeline.parts == 1) return std::min(all, behind);
  if (pipeline.micro_batches == pipeline.stages) return all;
  return std::min(all, 2 * behind + std::int64_t{pipeline.parts - 1} * pipeline.stages);
}

}  // namespace

Pipeline pipeline_of(const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  Pipeline pipeline{strategy.pipeline, strategy.interleave, resolved.passes, PassOrder::OneFOneB};
  if (strategy.schedule == "gpipe") pipeline.order = PassOrder::GPipe;
  if (resolved.mode == Mode::Inference) pipeline.order = PassOrder::Forward;
  return pipeline;
}

std::vector<PipelinePass> passes_of(const Pipeline& pipeline, int stage) {
  const std::int64_t all = pipeline.micro_batches * pipeline.parts;
  const std::int64_t first = warm_up(pipeline, stage);
  const bool trains = pipeline.order != PassOrder::Forward;
  std::vector<PipelinePass> passes;
  passes.reserve(static_cast<std::size_t>(trains ? 2 * all : all));
  for (std::int64_t i = 0; i < first; ++i) passes.push_back(interleaved(pipeline, i, false));
  if (!trains) return passes;
  for (std::int64_t i = 0; i < all; ++i) {
    if (first + i < all) passes.push_back(interleaved(pipeline, first + i, false));
    passes.push_back(interleaved(pipeline, i, true));
  }
  return passes;
}

double most_kept(const Pipeline& pipeline, int stage, const std::vector<double>& kept_by_part) {
  double kept = 0;
  double most = 0;
  for (const PipelinePass& pass : passes_of(pipeline, stage)) {
    const double bytes = kept_by_part[static_cast<std::size_t>(pass.part)];
    kept += pass.backward ? -bytes : bytes;
    most = std::max(most, kept);
  }
  return most;
}

StageLink stage_link(const Resolved& resolved, int from, int to) {
  const int ranks = resolved.workers / resolved.strategy.pipeline;  // of a stage
  const comm::Group pair{std::min(from, to) * ranks, 2, std::abs(to - from) * ranks};
  const comm::Path path = comm::path_over(resolved.cluster, pair, *resolved.collectives);
  StageLink between{path.pair, 0};
  if (resolved.framework->partitioned_sends && !resolved.strategy.sequence_parallel &&
      resolved.strategy.tensor > 1) {
    between.pieces = resolved.strategy.tensor;
    between.gathered = rank_groups(graph::Among::Tensor, resolved).path.flat;
  }
  if (path.nodes == 1) return between;
  // All ranks of a stage send at once.
  between.link.bytes_per_s = std::min(path.pair.bytes_per_s, path.across.bytes_per_s);
  int most = 1;
  for (const hw::Node& node : resolved.cluster.nodes) most = std::max(most, node.devices);
  between.sent_by_node = static_cast<double>(std::min(ranks, most)) / between.pieces;
  return between;
}

Seconds send_time(double bytes, const StageLink& link) {
  const Seconds sent = comm::point_to_point(bytes / link.pieces, link.link);
  return link.pieces == 1 ? sent : sent + comm::all_gather(bytes, link.pieces, link.gathered);
}

Seconds reduce_shared(double bytes, const std::vector<int>& stages, const Resolved& resolved) {
  const int ranks = resolved.workers / resolved.strategy.pipeline;
  const auto count = static_cast<int>(stages.size());
  const int apart = (stages.back() - stages.front()) / (count - 1);
  const comm::Group group{stages.front() * ranks, count, apart * ranks};
  return comm::all_reduce(bytes, comm::path_over(resolved.cluster, group, *resolved.collectives))
      .time;
}

}  // namespace foretrain::parallel

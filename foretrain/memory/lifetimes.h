// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/memory/options.h"

namespace foretrain::memory {

// What a piece of memory holds.
enum class Part : std::uint8_t { Parameters, Gradients, Optimizer, Activations, Workspace };

inline constexpr graph::NodeId kBeforeStep = -1;
inline constexpr graph::NodeId kForever = INT32_MAX;

// The memory of a tensor and of all that shares it. It is there from the run of node `born` to
// the end of the run of node `last`; `last` = number of nodes means the end of the step.
// kForever is kept from step to step: from before the first one, or, where `born` is a node (an
// optimizer's states), from the first time that it runs.
struct Storage {
  std::int64_t bytes = 0;  // rounded as the allocator counts them
  graph::NodeId born = kBeforeStep;
  graph::NodeId last = kForever;
  Part part = Part::Activations;
  bool varies = false;  // with the tokens of a batch
};

// The allocator counts in multiples of this.
inline constexpr std::int64_t kGranuleBytes = 512;

// All memory that `step` uses, in the order in which it is first asked for. Views, operators
// that run in place and gradient sums that PyTorch adds in place share their first input's.
std::vector<Storage> lifetimes(const graph::Bound& step, const Options& options);

// Bytes that the forward nodes from `first` up to, not including, `end` keep for the backward pass
// of `step`: storages of theirs that outlive the forward pass.
double kept_for_backward(const std::vector<Storage>& storages, const graph::Graph& step,
                         graph::NodeId first, graph::NodeId end);

// One step as the allocator sees it: i >= 0 asks for storage i, ~i gives it back. What is kept
// is asked for in the first step only. What a node holds only while it runs is given back first,
// the latest first: the order of what is given back at once does not matter to the allocator.
std::vector<std::int32_t> events(const std::vector<Storage>& storages);

// Live bytes of each part at the moment of a later step when most are live.
using PartBytes = std::array<double, 5>;
PartBytes peak(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step);
// The most of all parts but workspaces.
double most_without_workspace(const std::vector<Storage>& storages,
                              const std::vector<std::int32_t>& step);

}  // namespace foretrain::memory

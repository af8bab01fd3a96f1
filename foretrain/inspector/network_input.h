// SPDX-License-Identifier: Apache-2.0
// A step as a graph network sees it, and what the network's outputs say of it.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/inspector/features.h"
#include "foretrain/knowledge/inspector_network.h"
#include "foretrain/learn/graph_batch.h"

namespace foretrain::inspector {

inline constexpr std::size_t kFamilyCount = 12;

// Nodes that were taken together.
struct GroupFacts {
  std::map<std::string, int> kinds{};  // how many of each operator
  double nodes = 0;
  double output_bytes = 0;
  double time_s = 0;                                // of their kernels on the slowest worker
  std::array<double, kFamilyCount> family_nodes{};  // in the order of the features
  std::array<double, 3> phase_nodes{};
};

struct StepGroups {
  std::vector<GroupFacts> groups{};
  std::vector<std::pair<std::int32_t, std::int32_t>> edges{};
};
StepGroups step_groups(const operators::Stages& stages, const Grouping& grouping);

// How many numbers a network sees of a group.
std::size_t node_feature_count(NodeFeatures features);

learn::GraphInput network_input(const StepGroups& groups, const Features& features,
                                const InspectorNetwork& network);

// The logarithm of the number that each output stands for.
std::vector<double> log_numbers(const InspectorNetwork& network, const Features& features,
                                std::span<const float> outputs);

}  // namespace foretrain::inspector

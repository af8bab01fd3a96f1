// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/network_input.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "foretrain/inspector/detail/families.h"
#include "foretrain/inspector/group.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

static_assert(kFamilyCount == kFamilies.size());

constexpr std::size_t kDripleFeatures = 3;
constexpr std::size_t kPhysicsFeatures = 3 + kFamilyCount + 3;
constexpr double kMicrosecond = 1e-6;

GroupFacts facts_of(const operators::Stages& stages, const operators::WorkerClass& worker,
                    const NodeGroup& group) {
  GroupFacts facts;
  facts.output_bytes = group.output_bytes;
  for (const graph::NodeId id : group.nodes) {
    const auto place = static_cast<std::size_t>(id);
    const graph::Node& node = stages.step->graph.nodes[place];
    const graph::Op& op = graph::op(node);
    ++facts.kinds[std::string(op.name)];
    facts.nodes += 1;
    if (place < worker.ops.size()) facts.time_s += worker.ops[place].total.count();
    facts.phase_nodes.at(static_cast<std::size_t>(node.phase)) += 1;
    const std::size_t family = place_of(op.family);
    if (family < kFamilyCount) facts.family_nodes[family] += 1;
  }
  return facts;
}

std::vector<double> driple_features(const GroupFacts& group, const InspectorNetwork& network) {
  double codes = 0;
  for (const auto& [kind, count] : group.kinds) {
    const auto code = network.codes.find(kind);
    if (code != network.codes.end()) codes += count * code->second;
  }
  return {codes, group.output_bytes, group.nodes};
}

std::vector<double> physics_features(const GroupFacts& group) {
  std::vector<double> values{std::log1p(group.output_bytes), std::log1p(group.nodes),
                             std::log1p(group.time_s / kMicrosecond)};
  for (const double nodes : group.family_nodes) values.push_back(nodes / group.nodes);
  for (const double nodes : group.phase_nodes) values.push_back(nodes / group.nodes);
  return values;
}

void standardise(const Standard& standard, std::span<float> values) {
  if (standard.mean.empty()) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (values[i] - standard.mean[i]) / standard.deviation[i];
  }
}

}  // namespace

StepGroups step_groups(const operators::Stages& stages, const Grouping& grouping) {
  const std::size_t most = grouping.proportional
                               ? proportional_groups(stages.step->graph.nodes.size())
                               : grouping.groups;
  GroupedGraph grouped = group_nodes(stages.bound, most, grouping.seed);
  const operators::WorkerClass& worker = operators::slowest_class(stages);
  StepGroups groups;
  for (const NodeGroup& one : grouped.groups) {
    groups.groups.push_back(facts_of(stages, worker, one));
  }
  groups.edges = std::move(grouped.edges);
  return groups;
}

std::size_t node_feature_count(NodeFeatures features) {
  return features == NodeFeatures::Driple ? kDripleFeatures : kPhysicsFeatures;
}

learn::GraphInput network_input(const StepGroups& groups, const Features& features,
                                const InspectorNetwork& network) {
  learn::GraphInput input;
  const std::size_t columns = node_feature_count(network.nodes);
  input.nodes = learn::Matrix(groups.groups.size(), columns);
  for (std::size_t i = 0; i < groups.groups.size(); ++i) {
    const GroupFacts& group = groups.groups[i];
    const std::vector<double> values = network.nodes == NodeFeatures::Driple
                                           ? driple_features(group, network)
                                           : physics_features(group);
    std::transform(values.begin(), values.end(), input.nodes.row(i),
                   [](double value) { return static_cast<float>(value); });
    standardise(network.node_standard, {input.nodes.row(i), columns});
  }
  input.edges = groups.edges;
  for (const std::size_t feature : network.whole) {
    input.whole.push_back(static_cast<float>(features.values[feature]));
  }
  standardise(network.whole_standard, input.whole);
  return input;
}

std::vector<double> log_numbers(const InspectorNetwork& network, const Features& features,
                                std::span<const float> outputs) {
  assert(outputs.size() == network.outputs.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NetworkOutput& how = network.outputs[i];
    const double scaled = how.scale * static_cast<double>(outputs[i]);
    logs.push_back(how.physics ? features.values[*how.physics] + how.offset + scaled
                               : std::log(std::max(scaled, how.least)));
  }
  return logs;
}

}  // namespace foretrain::inspector

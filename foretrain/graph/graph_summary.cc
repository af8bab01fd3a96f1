// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/graph_summary.h"

#include <algorithm>

#include "foretrain/base/json.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"

namespace foretrain::graph {
namespace {

std::vector<std::int64_t> shape_of(const Extent& extent) {
  return {extent.size.begin(), extent.size.begin() + extent.rank};
}

bool has_backward(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.phase != Phase::Forward; });
}

Group& group_named(std::vector<Group>& groups, const std::string& name) {
  // From the back: nodes of a layer follow one another.
  const auto found = std::find_if(groups.rbegin(), groups.rend(),
                                  [&](const Group& group) { return group.name == name; });
  if (found != groups.rend()) return *found;
  groups.push_back({});
  groups.back().name = name;
  return groups.back();
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

// Learned values that no node before has used.
double new_parameters(const Bound& bound, const Node& node, std::vector<bool>& counted) {
  double sum = 0;
  for (const TensorId id : node.inputs) {
    const auto index = static_cast<std::size_t>(id);
    if (bound.graph->tensor(id).role != Role::Parameter || counted[index]) continue;
    counted[index] = true;
    sum += bound.count(id);
  }
  return sum;
}

NodeLine count(const Bound& bound, const Node& node) {
  const Work counts = work({bound, node});
  NodeLine line{
      &node, {}, {}, counts.flops, counts.vector_flops, counts.read_bytes, counts.written_bytes};
  for (const TensorId id : node.inputs) line.inputs.push_back(shape_of(bound.extent(id)));
  for (const TensorId id : node.outputs) line.outputs.push_back(shape_of(bound.extent(id)));
  return line;
}

}  // namespace

std::string layer_of(const std::string& scope, std::optional<int> depth) {
  std::size_t begin = 0;
  for (int part = 1; depth != 0; ++part) {
    const std::size_t end = scope.find('.', begin);
    const std::string word = scope.substr(begin, end - begin);
    const bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (end == std::string::npos) break;
    if (depth ? part == *depth : number) return scope.substr(0, end);
    begin = end + 1;
  }
  return scope.empty() ? "-" : scope;
}

GraphSummary summarise_graph(Graph model, std::int64_t batch, std::optional<int> depth) {
  GraphSummary summary;
  summary.step = has_backward(model) ? std::move(model) : backward(std::move(model));
  const Bound bound = bind(summary.step, {{"batch", batch}});
  std::vector<bool> counted(summary.step.tensors.size());
  for (const Node& node : summary.step.nodes) {
    summary.lines.push_back(count(bound, node));
    const NodeLine& line = summary.lines.back();
    if (node.phase != Phase::Forward) {
      summary.backward_flops += line.flops;
      continue;
    }
    summary.forward_flops += line.flops;
    const double parameters = new_parameters(bound, node, counted);
    const double written = is_view(node) ? 0 : line.written_bytes;
    summary.activation_bytes += written;
    for (Group* group : {&group_named(summary.kinds, describe(node)),
                         &group_named(summary.layers, layer_of(node.scope, depth))}) {
      ++group->nodes;
      group->parameters += parameters;
      group->flops += line.flops;
      group->written_bytes += written;
      if (!line.outputs.empty()) group->output = shape_text(line.outputs.front());
    }
  }
  std::stable_sort(summary.kinds.begin(), summary.kinds.end(), [](const Group& a, const Group& b) {
    return a.flops != b.flops ? a.flops > b.flops : a.written_bytes > b.written_bytes;
  });
  return summary;
}

std::string graph_json(const GraphSummary& summary, std::int64_t batch) {
  OrderedJson nodes = OrderedJson::array();
  for (const NodeLine& line : summary.lines) {
    nodes.push_back({{"op", describe(*line.node)},
                     {"scope", line.node->scope},
                     {"phase", phase_name(line.node->phase)},
                     {"inputs", line.inputs},
                     {"outputs", line.outputs},
                     {"flops", line.flops},
                     {"vector_flops", line.vector_flops},
                     {"read_bytes", line.read_bytes},
                     {"written_bytes", line.written_bytes}});
  }
  const OrderedJson json{{"name", summary.step.name},
                         {"batch", batch},
                         {"parameters", parameter_count(summary.step)},
                         {"forward_flops", summary.forward_flops},
                         {"backward_flops", summary.backward_flops},
                         {"activation_bytes", summary.activation_bytes},
                         {"nodes", std::move(nodes)},
                         {"notes", summary.step.notes}};
  return json_text(json);
}

}  // namespace foretrain::graph

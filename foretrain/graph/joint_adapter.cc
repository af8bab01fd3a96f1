// SPDX-License-Identifier: Apache-2.0
// Source: LitGPT, litgpt/lora.py (LoRAQKVLinear, before July 2024 MergedLinear).
#include "foretrain/graph/detail/joint_adapter.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "foretrain/graph/builder.h"

namespace foretrain::graph {
namespace {

constexpr std::array kParts{"q_proj", "k_proj", "v_proj"};

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

TensorId parameter(Graph& graph, const std::string& name, const Shape& shape) {
  graph.tensors.push_back({name, shape, DType::F32, Role::Parameter, true});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

// Columns of queries, keys and values: as what follows splits them, else thirds.
std::array<std::int64_t, 3> widths(const Graph& model, const Node& linear) {
  for (const Node& node : model.nodes) {
    if (node.kind != Kind::Split || node.inputs[0] != linear.outputs[0]) continue;
    const std::vector<Dim>* sizes = node.attributes.find(Attr::Sizes);
    if (sizes != nullptr && sizes->size() == 3) {
      return {(*sizes)[0].factor, (*sizes)[1].factor, (*sizes)[2].factor};
    }
  }
  const std::int64_t third = model.tensor(linear.inputs[1]).shape[0].factor / 3;
  return {third, third, third};
}

std::vector<std::int64_t> adapted_widths(const Graph& model, const Node& linear,
                                         const Trainable& what) {
  const std::array<std::int64_t, 3> all = widths(model, linear);
  const auto& targets = what.targets;
  const bool by_part = std::any_of(targets.begin(), targets.end(), is_part);
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool named = std::find(targets.begin(), targets.end(), kParts[i]) != targets.end();
    if (named || !by_part) chosen.push_back(all[i]);
  }
  return chosen;
}

// The last two axes of a tensor of three change places: [batch, tokens, features].
TensorId turned(Graph& graph, TensorId x, const std::string& scope) {
  return append_one(graph, Kind::Transpose, {x}, scope, {{Attr::Axes, {Dim(0), Dim(2), Dim(1)}}});
}

// [batch, rank x parts, tokens] to [batch, columns, tokens]: one grouped convolution where all
// parts have as many columns, else one for each part.
TensorId widened(Graph& graph, TensorId x, const std::vector<std::int64_t>& parts,
                 std::int64_t rank, const std::string& layer) {
  const std::string scope = layer + ".lora";
  const auto count = static_cast<std::int64_t>(parts.size());
  const auto weight = [&](const std::string& name, std::int64_t columns) {
    return parameter(graph, layer + ".lora_B" + name + ".weight",
                     Shape{Dim(columns), Dim(rank), Dim(1)});
  };
  if (std::all_of(parts.begin(), parts.end(), [&](std::int64_t p) { return p == parts[0]; })) {
    return append_one(graph, Kind::Conv, {x, weight("", count * parts[0])}, scope,
                      {{Attr::Groups, {Dim(count)}}});
  }
  Node split;
  split.kind = Kind::Split;
  split.scope = scope;
  split.attributes = {{Attr::Axis, {Dim(1)}},
                      {Attr::Sizes, std::vector<Dim>(parts.size(), Dim(rank))}};
  split.inputs = {x};
  const std::vector<TensorId> thin = append(graph, std::move(split));
  std::vector<TensorId> wide;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    wide.push_back(
        append_one(graph, Kind::Conv, {thin[i], weight(std::to_string(i), parts[i])}, scope));
  }
  return append_one(graph, Kind::Concat, std::move(wide), scope, {{Attr::Axis, {Dim(1)}}});
}

// The result of the adapted parts between zeros for the others: zeros are made, the result, a
// transposed view, is copied to have them in order, and again to its columns.
TensorId among_zeros(Graph& graph, TensorId x, std::int64_t features, const std::string& scope) {
  const TensorId ordered = append_one(graph, Kind::Contiguous, {x}, scope);
  const Shape shape = graph.tensor(ordered).shape;
  const Dim missing(features - shape[2].factor);
  graph.tensors.push_back({scope + ".zero", Shape{1, 1, 1}, DType::F32, Role::Buffer, false});
  const auto zero = static_cast<TensorId>(graph.tensors.size()) - 1;
  const TensorId wide = append_one(graph, Kind::Expand, {zero}, scope,
                                   {{Attr::Shape, {shape[0], shape[1], features}}});
  append_one(graph, Kind::Contiguous, {wide}, scope);
  return append_one(graph, Kind::Pad, {ordered}, scope,
                    {{Attr::Padding, {0, 0, 0, 0, 0, missing}}, {Attr::Indexed, {1}}});
}

}  // namespace

bool is_part(const std::string& target) {
  return std::find(kParts.begin(), kParts.end(), target) != kParts.end();
}

bool is_joint(const Node& linear) {
  const std::string name = last_part(linear.scope);
  return linear.kind == Kind::Linear && (name == "qkv_proj" || name == "query_key_value");
}

void add_joint_adapter(Rewrite& rewrite, const Graph& model, const Node& linear,
                       const Trainable& what) {
  Graph& graph = rewrite.graph();
  const std::vector<std::int64_t> chosen = adapted_widths(model, linear, what);
  const auto parts = static_cast<std::int64_t>(chosen.size());
  std::int64_t columns = 0;
  for (const std::int64_t width : chosen) columns += width;
  const Shape weight = model.tensor(linear.inputs[1]).shape;
  const std::string scope = linear.scope + ".lora";
  const TensorId a =
      parameter(graph, linear.scope + ".lora_A.weight", Shape{Dim(what.rank * parts), weight[1]});
  TensorId x = rewrite.now(linear.inputs[0]);
  if (what.dropout) x = append_one(graph, Kind::Dropout, {x}, scope);
  const TensorId thin = turned(graph, append_one(graph, Kind::Linear, {x, a}, scope), scope);
  TensorId wide = turned(graph, widened(graph, thin, chosen, what.rank, linear.scope), scope);
  if (columns < weight[0].factor) wide = among_zeros(graph, wide, weight[0].factor, scope);
  wide = append_one(graph, Kind::Scale, {wide}, scope);
  const TensorId base = rewrite.now(linear.outputs[0]);
  rewrite.becomes(linear.outputs[0], append_one(graph, Kind::Add, {base, wide}, scope));
}

}  // namespace foretrain::graph

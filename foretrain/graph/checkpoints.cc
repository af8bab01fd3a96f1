// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/blocks.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/recompute.h"

namespace foretrain::graph {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool reads(const Node& node, const std::vector<bool>& marked) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](TensorId id) { return marked[at(id)]; });
}

// Divides the nodes of a block where one needs what others made of the block's results: there the
// block runs a second time (a generator that is called twice), or there are two.
std::vector<Checkpoint> runs_of(const Graph& model, const Checkpoint& nodes) {
  std::vector<bool> inside(model.tensors.size(), false);   // written by this run
  std::vector<bool> outside(model.tensors.size(), false);  // by others, from what it wrote
  std::vector<Checkpoint> runs(1);
  std::size_t next = 0;
  for (NodeId n = nodes.front(); n <= nodes.back(); ++n) {
    const Node& node = model.nodes[at(n)];
    const bool own = nodes[next] == n;
    if (own) ++next;
    if (own && reads(node, outside)) {
      std::fill(inside.begin(), inside.end(), false);
      std::fill(outside.begin(), outside.end(), false);
      runs.emplace_back();
    }
    if (own) runs.back().push_back(n);
    if (!own && !reads(node, inside) && !reads(node, outside)) continue;
    std::vector<bool>& marked = own ? inside : outside;
    for (const TensorId id : node.outputs) marked[at(id)] = true;
  }
  return runs;
}

std::vector<Checkpoint> block_checkpoints(const Graph& model, const Blocks& blocks) {
  std::vector<Checkpoint> of_block(blocks.scopes.size());
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    if (blocks.of_node[n]) of_block[*blocks.of_node[n]].push_back(static_cast<NodeId>(n));
  }
  std::vector<Checkpoint> checkpoints;
  for (const Checkpoint& nodes : of_block) {
    const bool in_one_piece = at(nodes.back() - nodes.front()) + 1 == nodes.size();
    if (in_one_piece) {
      checkpoints.push_back(nodes);
    } else {
      for (Checkpoint& run : runs_of(model, nodes)) checkpoints.push_back(std::move(run));
    }
  }
  return checkpoints;
}

class Cores {
 public:
  explicit Cores(const Graph& model) : model_(model), readers_(model.tensors.size()) {
    for (std::size_t n = 0; n < model.nodes.size(); ++n) {
      for (const TensorId id : model.nodes[n].inputs) {
        readers_[at(id)].push_back(static_cast<NodeId>(n));
      }
    }
  }

  // From the product of queries and keys to that of probabilities and values, where `first` is the
  // former: what lies between has one reader each and a softmax among it.
  std::optional<Checkpoint> from(NodeId first) const {
    if (!multiplies_activations(model_.nodes[at(first)])) return std::nullopt;
    Checkpoint core{first};
    bool softmax = false;
    while (true) {
      const TensorId scores = model_.nodes[at(core.back())].outputs.front();
      if (readers_[at(scores)].size() != 1) return std::nullopt;
      const NodeId next = readers_[at(scores)].front();
      const Node& node = model_.nodes[at(next)];
      core.push_back(next);
      if (node.kind == Kind::MatMul) {
        if (!softmax || node.inputs.front() != scores) return std::nullopt;
        return core;
      }
      softmax = softmax || node.kind == Kind::Softmax;
      if (!lies_between(node)) return std::nullopt;
    }
  }

 private:
  bool multiplies_activations(const Node& node) const {
    return node.kind == Kind::MatMul &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](TensorId id) { return model_.tensor(id).role == Role::Activation; });
  }

  static bool lies_between(const Node& node) {
    const Family family = op(node).family;
    return node.kind == Kind::Softmax || node.kind == Kind::Cast || node.kind == Kind::Dropout ||
           family == Family::Pointwise || family == Family::View;
  }

  const Graph& model_;
  std::vector<std::vector<NodeId>> readers_;  // of each tensor
};

std::vector<Checkpoint> attention_checkpoints(const Graph& model, const Blocks& blocks) {
  const Cores cores(model);
  std::vector<Checkpoint> checkpoints;
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    if (!blocks.of_node[n]) continue;
    std::optional<Checkpoint> core = cores.from(static_cast<NodeId>(n));
    const bool whole = core && std::all_of(core->begin(), core->end(), [&](NodeId id) {
                         return blocks.of_node[at(id)] == blocks.of_node[n];
                       });
    if (whole) checkpoints.push_back(std::move(*core));
  }
  return checkpoints;
}

// The layer that all of its nodes belong to.
std::string scope_of(const Graph& model, const Checkpoint& checkpoint) {
  std::string scope = model.nodes[at(checkpoint.front())].scope;
  for (const NodeId id : checkpoint) {
    const std::string& other = model.nodes[at(id)].scope;
    while (other != scope && !other.starts_with(scope + '.')) {
      const std::size_t dot = scope.rfind('.');
      if (dot == std::string::npos) return scope;
      scope.resize(dot);
    }
  }
  return scope;
}

}  // namespace

Recompute parse_recompute(const std::string& text) {
  if (text == "none") return Recompute::None;
  if (text == "selective") return Recompute::Selective;
  if (text == "full") return Recompute::Full;
  throw Error(ErrorKind::BadInput,
              "recompute '" + printable(text) + "' is none of none, selective, full");
}

std::vector<Checkpoint> find_checkpoints(const Graph& model, const Recomputation& recomputation) {
  const Recompute what = recomputation.what;
  if (what == Recompute::None) return {};
  const Blocks blocks =
      recomputation.blocks.empty() ? find_blocks(model) : blocks_named(model, recomputation.blocks);
  return what == Recompute::Full ? block_checkpoints(model, blocks)
                                 : attention_checkpoints(model, blocks);
}

std::string describe_checkpoints(const Graph& model, Recompute what,
                                 const std::vector<Checkpoint>& checkpoints) {
  const std::string count = std::to_string(checkpoints.size());
  if (what == Recompute::Full) {
    if (checkpoints.empty()) {
      return "recomputation full: the names of the layers show no repeated blocks, so nothing is "
             "computed again";
    }
    return "recomputation full: " + count + " blocks (from '" +
           scope_of(model, checkpoints.front()) + "' to '" + scope_of(model, checkpoints.back()) +
           "') keep their inputs and run forward again before their backward pass";
  }
  if (!checkpoints.empty()) {
    return "recomputation selective: scores, softmax and dropout of " + count +
           " attentions are computed again in the backward pass";
  }
  const bool fused = std::any_of(model.nodes.begin(), model.nodes.end(),
                                 [](const Node& node) { return node.kind == Kind::Attention; });
  return fused
             ? "recomputation selective: attention is one fused kernel, which keeps no scores, so "
               "nothing is left to compute again"
             : "recomputation selective: no attention was found in repeated blocks, so nothing is "
               "computed again";
}

}  // namespace foretrain::graph

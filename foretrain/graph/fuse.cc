// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

// The most operators in one kernel. Source: torch._inductor.config.max_fusion_size.
constexpr std::size_t kMostParts = 64;

bool norm_activation_part(const Node& node) {
  switch (node.kind) {
    case Kind::BatchNorm:
    case Kind::GroupNorm:
    case Kind::Add:
    case Kind::Relu:
    case Kind::Relu6:
    case Kind::LeakyRelu:
      return true;
    case Kind::NormGrad:
    case Kind::PointwiseGrad: {
      const auto of = static_cast<Kind>(node.attributes.number(Attr::Of, 0));
      return of == Kind::BatchNorm || of == Kind::GroupNorm || of == Kind::Relu ||
             of == Kind::Relu6 || of == Kind::LeakyRelu;
    }
    default:
      return false;
  }
}

bool fusible(const Node& node, Fusion fusion) {
  if (node.phase == Phase::Update || node.label == "accumulate") return false;
  if (node.kind == Kind::Fused) return false;
  if (fusion == Fusion::NormActivation) return norm_activation_part(node);
  const Family family = op(node).family;
  return family == Family::Pointwise || family == Family::Normalization || node.kind == Kind::Cast;
}

bool is_softmax(Kind kind) { return kind == Kind::Softmax || kind == Kind::LogSoftmax; }

// Kernels that are written by hand end with a softmax and begin with its gradient; norms have
// their own. Source: Megatron-LM, core/fusions (scale-mask-softmax, bias-dropout-add, bias-GELU).
bool follows_by_hand(const Node& last, const Node& node) {
  const bool ended = is_forward(last) && op(last).family == Family::Normalization;
  if (ended || last.kind == Kind::NormGrad) return false;
  if (is_softmax(node.kind)) {
    return last.kind == Kind::Scale || last.kind == Kind::Where || last.kind == Kind::Add;
  }
  return op(node).family != Family::Normalization;
}

class Fuser {
 public:
  Fuser(const Graph& step, Fusion fusion) : step_(step), fusion_(fusion) {
    group_.assign(step.nodes.size(), -1);
    producer_.assign(step.tensors.size(), -1);
    consumers_.resize(step.tensors.size());
    kept_.assign(step.tensors.size(), false);
    for (const TensorId id : step.outputs) kept_[at(id)] = true;
    for (const auto& [parameter, gradient] : step.gradients) kept_[at(gradient)] = true;
    if (step.loss) kept_[at(*step.loss)] = true;
    for (std::size_t n = 0; n < step.nodes.size(); ++n) {
      for (const TensorId id : step.nodes[n].outputs) producer_[at(id)] = static_cast<NodeId>(n);
      for (const TensorId id : step.nodes[n].inputs)
        consumers_[at(id)].push_back(static_cast<NodeId>(n));
    }
  }

  Graph run() {
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) join(static_cast<NodeId>(n));
    return merged();
  }

 private:
  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

  Dim size_of(NodeId n) const {
    const Node& node = step_.nodes[at(n)];
    return node.outputs.empty() ? Dim(0) : elements(step_.tensor(node.outputs[0]).shape);
  }

  // Joins node n to the group of one of its producers, or starts a group of its own.
  void join(NodeId n) {
    const Node& node = step_.nodes[at(n)];
    if (!fusible(node, fusion_)) return;
    for (const TensorId id : node.inputs) {
      const NodeId from = producer_[at(id)];
      if (from < 0 || group_[at(from)] < 0) continue;
      const std::int32_t group = group_[at(from)];
      const Node& last = step_.nodes[at(members_[at(group)].back())];
      if (fusion_ == Fusion::Handwritten && !follows_by_hand(last, node)) continue;
      if (members_[at(group)].size() < kMostParts && step_.nodes[at(from)].phase == node.phase &&
          size_of(from) == size_of(n) && only_later_users(group, n)) {
        group_[at(n)] = group;
        members_[at(group)].push_back(n);
        return;
      }
    }
    group_[at(n)] = static_cast<std::int32_t>(members_.size());
    members_.push_back({n});
  }

  // The merged kernel runs where its last member stood, so nobody outside may need one of
  // its values earlier.
  bool only_later_users(std::int32_t group, NodeId last) const {
    for (const NodeId member : members_[at(group)]) {
      for (const TensorId id : step_.nodes[at(member)].outputs) {
        for (const NodeId user : consumers_[at(id)]) {
          if (user < last && group_[at(user)] != group) return false;
        }
      }
    }
    return true;
  }

  bool used_outside(TensorId id, std::int32_t group) const {
    const auto& users = consumers_[at(id)];
    return kept_[at(id)] || std::any_of(users.begin(), users.end(),
                                        [&](NodeId user) { return group_[at(user)] != group; });
  }

  Node merge(std::int32_t group) const {
    Node fused;
    fused.kind = Kind::Fused;
    std::vector<Dim> parts;
    std::set<TensorId> inside;
    for (const NodeId member : members_[at(group)]) {
      const Node& node = step_.nodes[at(member)];
      if (fused.label.empty()) {
        fused.phase = node.phase;
        fused.scope = node.scope;
      } else {
        fused.label += "+";
      }
      fused.label += operator_name(node);
      parts.emplace_back(static_cast<std::int64_t>(node.kind));
      if (node.attributes.number(Attr::Frozen, 0) != 0)
        fused.attributes.set(Attr::Frozen, {Dim(1)});
      for (const TensorId id : node.inputs) {
        const bool seen =
            std::find(fused.inputs.begin(), fused.inputs.end(), id) != fused.inputs.end();
        if (!seen && !inside.contains(id)) fused.inputs.push_back(id);
      }
      for (const TensorId id : node.outputs) {
        inside.insert(id);
        if (used_outside(id, group)) fused.outputs.push_back(id);
      }
    }
    fused.attributes.set(Attr::Of, parts);
    return fused;
  }

  Graph merged() const {
    Graph result = step_;
    result.nodes.clear();
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      const std::int32_t group = group_[n];
      if (group < 0 || members_[at(group)].size() == 1) {
        result.nodes.push_back(step_.nodes[n]);
      } else if (members_[at(group)].back() == static_cast<NodeId>(n)) {
        result.nodes.push_back(merge(group));
      }
    }
    return result;
  }

  const Graph& step_;
  Fusion fusion_;
  std::vector<std::int32_t> group_;           // of each node; -1: none
  std::vector<std::vector<NodeId>> members_;  // of each group
  std::vector<NodeId> producer_;              // of each tensor; -1: none
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> kept_;  // tensors that outlive the step's kernels
};

}  // namespace

Graph fuse(const Graph& step, Fusion fusion) {
  if (fusion == Fusion::None) return step;
  return Fuser(step, fusion).run();
}

}  // namespace foretrain::graph

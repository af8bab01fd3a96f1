// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/units.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "foretrain/graph/blocks.h"
#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/shards.h"
#include "foretrain/parallel/experts.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Phase;
using graph::Role;
using graph::TensorId;

constexpr NodeId kNone = std::numeric_limits<NodeId>::max();

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

// Where the nodes of a pass lie.
struct Range {
  NodeId first = kNone;
  NodeId last = -1;
  void add(NodeId n) {
    first = std::min(first, n);
    last = std::max(last, n);
  }
  bool empty() const { return last < 0; }
};

// The gradient of a parameter: as backward gives it, and what adds it to those of earlier passes.
struct Gradient {
  TensorId parameter = 0;
  TensorId whole = 0;
  std::optional<NodeId> accumulation;
};

struct Unit {
  std::string scope;
  std::vector<TensorId> parameters;
  std::vector<Gradient> gradients;
  Range forward;
  Range backward;
};

class Sharding {
 public:
  Sharding(graph::Graph& step, const Resolved& resolved, Reshard reshard)
      : step_(step),
        resolved_(resolved),
        ranks_(shard_ranks(resolved)),
        reshard_(reshard),
        every_pass_(resolved.strategy.reduce_every_pass.value_or(true)),
        shard_(step.tensors.size(), -1),
        again_(step.tensors.size(), -1),
        moved_(step.nodes.size(), false) {}

  void run() {
    for (const TensorId id : expert_parameters(step_)) stacks_.push_back(step_.tensor(id).shape);
    find_units();
    for (Unit& unit : units_) {
      for (const TensorId id : unit.parameters) make_shard(id);
    }
    for (graph::Tensor& tensor : step_.tensors) {
      if (tensor.role == Role::OptimizerState) tensor.shape = share_of(tensor.shape);
    }
    gather_forward();
    if (reshard_ == Reshard::AfterForward) gather_backward();
    for (Unit& unit : units_) reduce(unit);
    update_shards();
    place();
  }

 private:
  // The root comes last: its gradients are complete when all others are.
  void find_units() {
    const graph::Blocks blocks = graph::find_blocks(step_);
    units_.resize(blocks.scopes.size() + 1);
    for (std::size_t b = 0; b < blocks.scopes.size(); ++b) units_[b].scope = blocks.scopes[b];
    Unit& root = units_.back();
    const auto unit_of = [&](const auto& block) -> Unit& { return block ? units_[*block] : root; };
    for (std::size_t t = 0; t < step_.tensors.size(); ++t) {
      if (step_.tensors[t].role != Role::Parameter) continue;
      unit_of(blocks.of_tensor[t]).parameters.push_back(static_cast<TensorId>(t));
    }
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      const Phase phase = step_.nodes[n].phase;
      if (phase == Phase::Update) continue;
      Range Unit::*const pass = phase == Phase::Forward ? &Unit::forward : &Unit::backward;
      (root.*pass).add(id);
      if (blocks.of_node[n]) (units_[*blocks.of_node[n]].*pass).add(id);
    }
    find_gradients(blocks);
  }

  void find_gradients(const graph::Blocks& blocks) {
    std::vector<NodeId> producer(step_.tensors.size(), -1);
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      for (const TensorId id : step_.nodes[n].outputs) producer[at(id)] = static_cast<NodeId>(n);
    }
    for (const auto& [parameter, gradient] : step_.gradients) {
      Gradient found{parameter, gradient, {}};
      const NodeId made = producer[at(gradient)];
      if (every_pass_ && made >= 0 && step_.nodes[at(made)].label == "accumulate") {
        found.whole = step_.nodes[at(made)].inputs[1];
        found.accumulation = made;
      }
      const auto& block = blocks.of_tensor[at(parameter)];
      Unit& unit = block ? units_[*block] : units_.back();
      unit.gradients.push_back(found);
      unit.backward.add(producer[at(found.whole)]);
    }
  }

  // The experts of a layer are one tensor here and layers of their own in models, so each expert's
  // matrix is divided, by its outputs.
  graph::Shape share_of(const graph::Shape& whole) const {
    const bool stack = std::find(stacks_.begin(), stacks_.end(), whole) != stacks_.end();
    return shard_of(whole, ranks_, stack ? whole.rank() - 1 : 0);
  }

  void make_shard(TensorId parameter) {
    const DType type = step_.tensor(parameter).type;
    const bool half = is_floating(type) && bytes_of(type) < 4;
    const DType kept = half && gathers_half(resolved_) ? DType::F32 : type;
    shard_[at(parameter)] =
        add_shard(step_, parameter, share_of(step_.tensor(parameter).shape), kept);
    step_.tensor(parameter).role = Role::Activation;
  }

  Node collective(Kind kind, graph::Among among, const std::string& scope) const {
    Node node = communication(kind, {});
    node.scope = scope;
    node.attributes.set(Attr::Among, {graph::Dim(static_cast<std::int64_t>(among))});
    if (every_pass_ || kind == Kind::AllGather)
      node.attributes.set(Attr::EveryPass, {graph::Dim(1)});
    return node;
  }

  // Of a unit, into `wholes`, before node `place`.
  void gather(const Unit& unit, std::vector<TensorId> wholes, NodeId place) {
    if (unit.parameters.empty()) return;
    Node node = collective(Kind::AllGather, graph::Among::ShardGroup, unit.scope);
    for (const TensorId id : unit.parameters) node.inputs.push_back(shard_[at(id)]);
    node.outputs = std::move(wholes);
    before_.push_back({std::move(node), place});
  }

  // Units in the order in which a pass comes to them.
  std::vector<const Unit*> order_of(Range Unit::*pass) const {
    std::vector<const Unit*> order;
    for (std::size_t u = 0; u + 1 < units_.size(); ++u) {
      if (!(units_[u].*pass).empty()) order.push_back(&units_[u]);
    }
    std::stable_sort(order.begin(), order.end(), [&](const Unit* a, const Unit* b) {
      return (a->*pass).first < (b->*pass).first;
    });
    return order;
  }

  void gather_forward() {
    const Unit& root = units_.back();
    gather(root, root.parameters, root.forward.first);
    NodeId place = root.forward.first;
    for (const Unit* unit : order_of(&Unit::forward)) {
      gather(*unit, unit->parameters, place);
      place = unit->forward.first;
    }
  }

  void gather_backward() {
    NodeId place = units_.back().backward.first;
    for (const Unit* unit : order_of(&Unit::backward)) {
      std::vector<TensorId> wholes;
      for (const TensorId id : unit->parameters) {
        again_[at(id)] = static_cast<TensorId>(step_.tensors.size());
        wholes.push_back(again_[at(id)]);
        const graph::Tensor copy = step_.tensor(id);
        step_.tensors.push_back(copy);
      }
      gather(*unit, std::move(wholes), place);
      place = unit->backward.first;
    }
  }

  TensorId new_gradient(const graph::Shape& shape, DType type) {
    graph::Tensor tensor;
    tensor.shape = shape;
    tensor.type = type;
    tensor.role = Role::Gradient;
    step_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(step_.tensors.size()) - 1;
  }

  void reduce(Unit& unit) {
    if (unit.gradients.empty()) return;
    Node flatten;
    flatten.kind = Kind::Concat;
    flatten.phase = Phase::Backward;
    flatten.scope = unit.scope;
    flatten.label = "flatten";
    Node scatter = collective(Kind::ReduceScatter, graph::Among::ShardGroup, unit.scope);
    std::int64_t elements = 0;
    DType type = DType::F32;
    for (const Gradient& gradient : unit.gradients) {
      flatten.inputs.push_back(gradient.whole);
      const graph::Tensor& shard = step_.tensor(shard_[at(gradient.parameter)]);
      elements += ranks_ * graph::elements(shard.shape).factor;
      type = reduced_type(step_.tensor(gradient.whole).type, resolved_);
      scatter.outputs.push_back(new_gradient(shard.shape, type));
    }
    flatten.outputs = {new_gradient({graph::Dim(elements)}, type)};
    scatter.inputs = flatten.outputs;
    const std::vector<TensorId> shards = scatter.outputs;
    after_.push_back({std::move(flatten), unit.backward.last});
    after_.push_back({std::move(scatter), unit.backward.last});
    if (copies(resolved_) > 1) {
      Node across = collective(Kind::AllReduce, graph::Among::Replicas, unit.scope);
      across.inputs = shards;
      after_.push_back({std::move(across), unit.backward.last});
    }
    for (std::size_t i = 0; i < shards.size(); ++i) accumulate(unit.gradients[i], shards[i]);
  }

  // Gradients of several passes add up as shards, when all of a pass have come.
  void accumulate(const Gradient& gradient, TensorId shard) {
    const TensorId parameter = shard_[at(gradient.parameter)];
    if (!gradient.accumulation) {
      gradients_.emplace_back(parameter, shard);
      return;
    }
    Node& addition = step_.nodes[at(*gradient.accumulation)];
    const graph::Shape shape = step_.tensor(shard).shape;
    for (const TensorId id : {addition.inputs[0], addition.outputs[0]}) {
      step_.tensor(id).shape = shape;
      step_.tensor(id).type = step_.tensor(parameter).type;
    }
    addition.inputs[1] = shard;
    moved_[at(*gradient.accumulation)] = true;
    gradients_.emplace_back(parameter, addition.outputs[0]);
    additions_.push_back(addition);
  }

  // In the order in which the gradients were listed.
  void update_shards() {
    for (Node& node : step_.nodes) {
      if (node.kind != Kind::Update) continue;
      const std::size_t count = node.inputs.size() / 2;
      for (std::size_t i = 0; i < count; ++i) {
        const TensorId shard = shard_[at(node.inputs[i])];
        const auto found = std::find_if(gradients_.begin(), gradients_.end(),
                                        [&](const auto& pair) { return pair.first == shard; });
        node.inputs[i] = shard;
        node.inputs[count + i] = found->second;
      }
    }
    std::sort(gradients_.begin(), gradients_.end());
    step_.gradients = gradients_;
  }

  void place() {
    const auto by_place = [](const Insertion& a, const Insertion& b) { return a.after < b.after; };
    std::stable_sort(before_.begin(), before_.end(), by_place);
    std::stable_sort(after_.begin(), after_.end(), by_place);
    const NodeId last = units_.back().backward.last;
    std::vector<Node> nodes;
    nodes.reserve(step_.nodes.size() + before_.size() + after_.size());
    auto before = before_.begin();
    auto after = after_.begin();
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      for (; before != before_.end() && before->after <= id; ++before) {
        nodes.push_back(std::move(before->node));
      }
      if (!moved_[n]) nodes.push_back(rewired(std::move(step_.nodes[n])));
      for (; after != after_.end() && after->after <= id; ++after) {
        nodes.push_back(std::move(after->node));
      }
      if (id == last) std::move(additions_.begin(), additions_.end(), std::back_inserter(nodes));
    }
    step_.nodes = std::move(nodes);
  }

  // Backward, and what runs again in it, reads what was gathered for it.
  Node rewired(Node node) const {
    if (node.phase != Phase::Backward && node.phase != Phase::Recompute) return node;
    for (TensorId& id : node.inputs) {
      if (at(id) < again_.size() && again_[at(id)] >= 0) id = again_[at(id)];
    }
    return node;
  }

  graph::Graph& step_;
  const Resolved& resolved_;
  int ranks_;
  Reshard reshard_;
  bool every_pass_;
  std::vector<graph::Shape> stacks_;  // of experts' matrices
  std::vector<Unit> units_;
  std::vector<TensorId> shard_;  // of each parameter
  std::vector<TensorId> again_;  // of each parameter: as it is gathered for backward
  std::vector<bool> moved_;      // of each node: it comes at the end of backward
  std::vector<Insertion> before_;
  std::vector<Insertion> after_;
  std::vector<Node> additions_;
  std::vector<std::pair<TensorId, TensorId>> gradients_;
};

}  // namespace

void shard_units(graph::Graph& step, const Resolved& resolved, Reshard reshard) {
  Sharding(step, resolved, reshard).run();
}

}  // namespace foretrain::parallel

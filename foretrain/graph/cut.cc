// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/cut.h"

#include <algorithm>
#include <map>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/blocks.h"

namespace foretrain::graph {
namespace {

constexpr std::int32_t kNone = -1;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

[[noreturn]] void refuse(const Graph& model, const std::string& why) {
  throw Error(ErrorKind::Unsupported,
              "pipeline: model '" + printable(model.name) + "' cannot be cut: " + why);
}

std::string in_stages(int parts) { return " into " + std::to_string(parts) + " stages"; }

// Blocks of each part: those in the middle have one more first.
std::vector<int> share_blocks(int blocks, int parts) {
  std::vector<int> shares(static_cast<std::size_t>(parts), blocks / parts);
  int left = blocks % parts;
  const auto give = [&](int part) {
    if (left == 0) return;
    ++shares[static_cast<std::size_t>(part)];
    --left;
  };
  for (int part = 1; part + 1 < parts; ++part) give(part);
  give(0);
  return shares;
}

class Cutting {
 public:
  Cutting(const Graph& model, int parts) : model_(model), blocks_(find_blocks(model)) {
    const auto count = static_cast<int>(blocks_.scopes.size());
    if (count == 0) {
      refuse(model, "the names of its layers show no repeated blocks; use pipeline 1");
    }
    if (count < parts) {
      refuse(model, "its " + std::to_string(count) + " blocks do not divide" + in_stages(parts) +
                        "; use fewer stages (pipeline times interleave)");
    }
    cut_.blocks = share_blocks(count, parts);
    cut_.scopes = blocks_.scopes;
    cut_.nodes.resize(at(parts));
    cut_.borders.resize(at(parts) - 1);
  }

  Cut run() {
    find_producers();
    find_first_nodes();
    const std::vector<bool> mixed = mixed_nodes();
    place(mixed);
    find_borders();
    for (std::size_t part = 0; part < cut_.nodes.size(); ++part) add_what_is_read(part, mixed);
    return std::move(cut_);
  }

 private:
  void find_producers() {
    producer_.assign(model_.tensors.size(), kNone);
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      for (const TensorId id : model_.nodes[n].outputs) producer_[at(id)] = static_cast<NodeId>(n);
    }
  }

  // The node that each part but the first begins with.
  void find_first_nodes() {
    std::vector<NodeId> first(blocks_.scopes.size(), kNone);
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      if (!blocks_.of_node[n]) continue;
      NodeId& of_block = first[*blocks_.of_node[n]];
      if (of_block == kNone) of_block = static_cast<NodeId>(n);
    }
    std::size_t block = 0;
    for (std::size_t part = 0; part + 1 < cut_.blocks.size(); ++part) {
      block += at(cut_.blocks[part]);
      begins_.push_back(first[block]);
      begins_with_.push_back(block);
    }
  }

  // Whether each node depends on inputs and on parameters: only those have one place.
  std::vector<bool> mixed_nodes() const {
    constexpr unsigned kInput = 1;
    constexpr unsigned kParameter = 2;
    std::vector<unsigned> from(model_.tensors.size(), 0);
    for (std::size_t t = 0; t < model_.tensors.size(); ++t) {
      if (model_.tensors[t].role == Role::Input) from[t] = kInput;
      if (model_.tensors[t].role == Role::Parameter) from[t] = kParameter;
    }
    std::vector<bool> mixed(model_.nodes.size());
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      unsigned all = 0;
      for (const TensorId id : model_.nodes[n].inputs) all |= from[at(id)];
      for (const TensorId id : model_.nodes[n].outputs) from[at(id)] = all;
      mixed[n] = all == (kInput | kParameter);
    }
    return mixed;
  }

  void place(const std::vector<bool>& mixed) {
    part_.assign(model_.nodes.size(), kNone);
    std::size_t part = 0;
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      while (part < begins_.size() && static_cast<NodeId>(n) >= begins_[part]) ++part;
      if (!mixed[n]) continue;
      if (part > 0 && blocks_.of_node[n] && *blocks_.of_node[n] < begins_with_[part - 1]) {
        refuse(model_, "block '" + blocks_.scopes[*blocks_.of_node[n]] +
                           "' runs on after the next one has begun");
      }
      part_[n] = static_cast<int>(part);
    }
  }

  void find_borders() {
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      if (part_[n] == kNone) continue;
      for (const TensorId id : model_.nodes[n].inputs) {
        const NodeId from = producer_[at(id)];
        if (from == kNone || part_[at(from)] == kNone || part_[at(from)] == part_[n]) continue;
        if (part_[at(from)] + 1 != part_[n]) {
          refuse(model_, "stage " + std::to_string(part_[n]) + " reads what '" +
                             printable(model_.nodes[at(from)].scope) + "' in stage " +
                             std::to_string(part_[at(from)]) +
                             " computes; use fewer stages (pipeline times interleave)");
        }
        std::vector<TensorId>& border = cut_.borders[at(part_[at(from)])];
        if (std::find(border.begin(), border.end(), id) == border.end()) border.push_back(id);
      }
    }
  }

  // A part's own nodes and those without a place that they read, in order.
  void add_what_is_read(std::size_t part, const std::vector<bool>& mixed) {
    std::vector<bool> taken(model_.nodes.size(), false);
    for (std::size_t n = model_.nodes.size(); n-- > 0;) {
      if (part_[n] == static_cast<int>(part)) taken[n] = true;
      if (!taken[n]) continue;
      for (const TensorId id : model_.nodes[n].inputs) {
        const NodeId from = producer_[at(id)];
        if (from != kNone && !mixed[at(from)]) taken[at(from)] = true;
      }
    }
    for (std::size_t n = 0; n < taken.size(); ++n) {
      if (taken[n]) cut_.nodes[part].push_back(static_cast<NodeId>(n));
    }
  }

  const Graph& model_;
  Blocks blocks_;
  Cut cut_;
  std::vector<NodeId> producer_;          // of each tensor
  std::vector<NodeId> begins_;            // first node of each part but the first
  std::vector<std::size_t> begins_with_;  // likewise: its first block
  std::vector<int> part_;                 // of each node that has one place
};

class Taking {
 public:
  Taking(const Graph& model, const Cut& cut)
      : model_(model),
        cut_(cut),
        needed_(needed_gradients(model)),
        now_(model.tensors.size(), kNone) {
    stage_.name = model.name;
    stage_.symbols = model.symbols;
    stage_.notes = model.notes;
  }

  void take(int part) {
    if (part > 0) transfer(Kind::Receive, cut_.borders[at(part) - 1]);
    for (const NodeId n : cut_.nodes[at(part)]) take(model_.nodes[at(n)]);
    if (at(part) < cut_.borders.size()) transfer(Kind::Send, cut_.borders[at(part)]);
  }

  Graph finish(bool is_last) {
    if (model_.loss && now_[at(*model_.loss)] != kNone) stage_.loss = now_[at(*model_.loss)];
    for (const TensorId id : model_.outputs) {
      if (is_last && now_[at(id)] != kNone) stage_.outputs.push_back(now_[at(id)]);
    }
    return std::move(stage_);
  }

 private:
  TensorId now(TensorId old) {
    TensorId& id = now_[at(old)];
    if (id == kNone) {
      id = static_cast<TensorId>(stage_.tensors.size());
      stage_.tensors.push_back(model_.tensor(old));
    }
    return id;
  }

  std::vector<TensorId> now(const std::vector<TensorId>& old) {
    std::vector<TensorId> ids;
    ids.reserve(old.size());
    for (const TensorId id : old) ids.push_back(now(id));
    return ids;
  }

  // What several parts of one rank need without a place of its own is there already.
  void take(const Node& node) {
    const auto written = [&](TensorId id) {
      return now_[at(id)] != kNone && at(now_[at(id)]) < written_.size() &&
             written_[at(now_[at(id)])];
    };
    if (std::any_of(node.outputs.begin(), node.outputs.end(), written)) return;
    Node copy = node;
    copy.inputs = now(node.inputs);
    copy.outputs = now(node.outputs);
    written_.resize(stage_.tensors.size(), false);
    for (const TensorId id : copy.outputs) written_[at(id)] = true;
    stage_.nodes.push_back(std::move(copy));
  }

  void transfer(Kind kind, const std::vector<TensorId>& tensors) {
    Node node;
    node.kind = kind;
    node.scope = "pipeline";
    node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(Among::Pipeline))});
    const bool learns =
        std::any_of(tensors.begin(), tensors.end(), [&](TensorId id) { return needed_[at(id)]; });
    if (!learns) node.attributes.set(Attr::Frozen, {Dim(1)});
    (kind == Kind::Send ? node.inputs : node.outputs) = now(tensors);
    written_.resize(stage_.tensors.size(), false);
    for (const TensorId id : node.outputs) written_[at(id)] = true;
    stage_.nodes.push_back(std::move(node));
  }

  const Graph& model_;
  const Cut& cut_;
  std::vector<bool> needed_;
  std::vector<TensorId> now_;  // of each of the model's tensors
  std::vector<bool> written_;  // of each of the stage's
  Graph stage_;
};

}  // namespace

Cut cut_at_blocks(const Graph& model, int parts) { return Cutting(model, parts).run(); }

Graph take_parts(const Graph& model, const Cut& cut, const std::vector<int>& parts) {
  Taking taking(model, cut);
  for (const int part : parts) taking.take(part);
  return taking.finish(at(parts.back()) + 1 == cut.nodes.size());
}

bool is_alike(const Graph& a, const Graph& b) {
  const auto same_node = [](const Node& one, const Node& other) {
    return one.kind == other.kind && one.phase == other.phase && one.inputs == other.inputs &&
           one.outputs == other.outputs && one.label == other.label &&
           one.attributes == other.attributes;
  };
  const auto same_tensor = [](const Tensor& one, const Tensor& other) {
    return one.shape == other.shape && one.type == other.type && one.role == other.role &&
           one.trainable == other.trainable;
  };
  return a.outputs == b.outputs && a.loss == b.loss &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node) &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    same_tensor);
}

std::vector<SharedParameter> shared_parameters(const Graph& model, const Cut& cut) {
  std::map<TensorId, std::vector<int>> readers;
  for (std::size_t part = 0; part < cut.nodes.size(); ++part) {
    for (const NodeId n : cut.nodes[part]) {
      for (const TensorId id : model.nodes[at(n)].inputs) {
        if (model.tensor(id).role != Role::Parameter || !model.tensor(id).trainable) continue;
        std::vector<int>& parts = readers[id];
        if (parts.empty() || parts.back() != static_cast<int>(part)) {
          parts.push_back(static_cast<int>(part));
        }
      }
    }
  }
  std::vector<SharedParameter> shared;
  for (auto& [id, parts] : readers) {
    if (parts.size() > 1) shared.push_back({id, std::move(parts)});
  }
  return shared;
}

}  // namespace foretrain::graph

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "foretrain/graph/offload.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/offload.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::TensorId;

// An update and its copies back overlap in so many parts, of at least so many parameters.
constexpr double kMostParts = 8;
constexpr double kLeastInPart = 8 << 20;

// The last node before `end` that writes each tensor, or communicates it.
std::map<TensorId, NodeId> completed(const graph::Graph& step, std::size_t end) {
  std::map<TensorId, NodeId> last;
  for (std::size_t n = 0; n < end; ++n) {
    const Node& node = step.nodes[n];
    for (const TensorId id : node.outputs) last[id] = static_cast<NodeId>(n);
    if (!graph::is_communication(node)) continue;
    for (const TensorId id : node.inputs) last[id] = static_cast<NodeId>(n);
  }
  return last;
}

Node copy(Kind kind, std::vector<TensorId> tensors) {
  Node node = communication(kind, std::move(tensors));
  set_offload(node);
  return node;
}

// What any other node than the update at `update` reads.
std::set<TensorId> read_elsewhere(const graph::Graph& step, std::size_t update) {
  std::set<TensorId> read;
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    if (n != update) read.insert(step.nodes[n].inputs.begin(), step.nodes[n].inputs.end());
  }
  return read;
}

class OptimizerOffload {
 public:
  OptimizerOffload(graph::Graph& step, std::size_t update)
      : step_(step), update_(update), pairs_(step.nodes[update].inputs.size() / 2) {}

  void run() {
    copy_gradients();
    host_masters();
    const Node update = step_.nodes[update_];
    update_parts(update);
    step_.nodes.erase(step_.nodes.begin() + static_cast<std::ptrdiff_t>(update_));
    for (Insertion& one : insertions_) {
      if (one.after >= static_cast<NodeId>(update_)) --one.after;
    }
    insert(step_, std::move(insertions_));
  }

 private:
  TensorId parameter(std::size_t i) const { return step_.nodes[update_].inputs[i]; }
  TensorId gradient(std::size_t i) const { return step_.nodes[update_].inputs[pairs_ + i]; }

  // One copy of all gradients that the same node completes.
  void copy_gradients() {
    const std::map<TensorId, NodeId> last = completed(step_, update_);
    std::map<NodeId, std::vector<TensorId>> together;
    for (std::size_t i = 0; i < pairs_; ++i) {
      const auto found = last.find(gradient(i));
      together[found == last.end() ? kFront : found->second].push_back(gradient(i));
    }
    for (auto& [after, gradients] : together) {
      insertions_.push_back({copy(Kind::Push, std::move(gradients)), after});
    }
  }

  void host_masters() {
    const std::set<TensorId> read = read_elsewhere(step_, update_);
    masters_.resize(pairs_);
    for (std::size_t i = 0; i < pairs_; ++i) {
      masters_[i] = !read.contains(parameter(i)) &&
                    step_.tensor(parameter(i)).role == graph::Role::Parameter &&
                    step_.tensor(parameter(i)).name.empty();
      if (masters_[i]) step_.tensor(parameter(i)).role = graph::Role::OptimizerState;
    }
  }

  double elements(std::size_t i) const {
    return static_cast<double>(graph::elements(step_.tensor(parameter(i)).shape).factor);
  }

  // Parts of about as many parameters, in their order.
  void update_parts(const Node& update) {
    double all = 0;
    for (std::size_t i = 0; i < pairs_; ++i) all += elements(i);
    const double parts = std::clamp(std::floor(all / kLeastInPart), 1.0, kMostParts);
    double done = 0;
    double part = 1;
    std::size_t first = 0;
    for (std::size_t i = 0; i < pairs_; ++i) {
      done += elements(i);
      if (done * parts < all * part && i + 1 < pairs_) continue;
      add_part(update, first, i + 1);
      first = i + 1;
      part = std::floor(done * parts / all) + 1;
    }
  }

  void add_part(const Node& update, std::size_t first, std::size_t end) {
    Node part = update;
    part.kind = Kind::ServerUpdate;
    set_offload(part);
    part.inputs.clear();
    std::vector<TensorId> returned;
    for (std::size_t i = first; i < end; ++i) {
      part.inputs.push_back(parameter(i));
      returned.push_back(masters_[i] ? gradient(i) : parameter(i));
    }
    for (std::size_t i = first; i < end; ++i) part.inputs.push_back(gradient(i));
    const auto after = static_cast<NodeId>(update_);
    insertions_.push_back({std::move(part), after});
    insertions_.push_back({copy(Kind::Pull, std::move(returned)), after});
  }

  graph::Graph& step_;
  std::size_t update_;  // the node
  std::size_t pairs_;   // of parameters and gradients
  std::vector<bool> masters_;
  std::vector<Insertion> insertions_;
};

}  // namespace

void offload_optimizer(graph::Graph& step) {
  const auto update = std::find_if(step.nodes.begin(), step.nodes.end(),
                                   [](const Node& node) { return node.kind == Kind::Update; });
  if (update == step.nodes.end()) return;
  OptimizerOffload(step, static_cast<std::size_t>(update - step.nodes.begin())).run();
}

}  // namespace foretrain::parallel

// SPDX-License-Identifier: Apache-2.0
// Activation offload: what the backward pass reads lies in the host's memory meanwhile.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "foretrain/graph/offload.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/offload.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Phase;
using graph::Role;
using graph::TensorId;

constexpr NodeId kNone = -1;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool reads_saved(const Node& node) {
  return (node.phase == Phase::Backward || node.phase == Phase::Recompute) &&
         !graph::is_communication(node);
}

// Memory that forward writes and backward reads.
struct Saved {
  TensorId root = 0;           // the tensor that the others are views of
  NodeId written = kNone;      // the last forward node that writes to it
  NodeId first_read = kNone;   // in backward
  std::vector<TensorId> read;  // in backward
};

class ActivationOffload {
 public:
  ActivationOffload(graph::Graph& step, double least_bytes)
      : step_(step),
        least_bytes_(least_bytes),
        root_(step.tensors.size()),
        group_(step.tensors.size(), kNone) {}

  void run() {
    find_roots();
    find_saved();
    std::vector<Insertion> out = copies_out();
    std::vector<Insertion> in = copies_in();
    out.insert(out.end(), std::make_move_iterator(in.begin()), std::make_move_iterator(in.end()));
    std::stable_sort(out.begin(), out.end(),
                     [](const Insertion& a, const Insertion& b) { return a.after < b.after; });
    insert(step_, std::move(out));
  }

 private:
  // Of each tensor: itself, or what it is a view of, or overwrites.
  void find_roots() {
    for (std::size_t t = 0; t < root_.size(); ++t) root_[t] = static_cast<TensorId>(t);
    std::vector<NodeId> written(step_.tensors.size(), kNone);
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      const Node& node = step_.nodes[n];
      if (node.phase != Phase::Forward || graph::is_communication(node)) continue;
      const bool overwrites = node.attributes.number(Attr::Inplace, 0) != 0;
      for (std::size_t i = 0; i < node.outputs.size() && !node.inputs.empty(); ++i) {
        const bool shares = graph::is_view(node) || (i == 0 && overwrites);
        if (shares) root_[at(node.outputs[i])] = root_[at(node.inputs.front())];
      }
      for (const TensorId id : node.outputs) {
        if (!graph::is_view(node)) written[at(root_[at(id)])] = static_cast<NodeId>(n);
      }
    }
    written_ = std::move(written);
    for (const TensorId id : step_.outputs) kept_.insert(root_[at(id)]);
    if (step_.loss) kept_.insert(root_[at(*step_.loss)]);
  }

  bool is_worth(TensorId root) const {
    const graph::Tensor& tensor = step_.tensor(root);
    if (tensor.role != Role::Activation || written_[at(root)] == kNone) return false;
    if (kept_.contains(root)) return false;
    const auto one = static_cast<double>(graph::elements(tensor.shape).factor);
    if (one * bytes_of(tensor.type) < least_bytes_) return false;
    const Node& writer = step_.nodes[at(written_[at(root)])];
    const bool of_parameter =
        !writer.inputs.empty() &&
        step_.tensor(root_[at(writer.inputs.front())]).role == Role::Parameter;
    return !of_parameter;  // a cast, or a view of one
  }

  void find_saved() {
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      if (!reads_saved(step_.nodes[n])) continue;
      if (first_backward_ == kNone) first_backward_ = static_cast<NodeId>(n);
      for (const TensorId id : step_.nodes[n].inputs) note_read(id, static_cast<NodeId>(n));
    }
  }

  void note_read(TensorId id, NodeId reader) {
    const TensorId root = root_[at(id)];
    if (group_[at(root)] == kNone) {
      if (!is_worth(root)) return;
      group_[at(root)] = static_cast<NodeId>(saved_.size());
      saved_.push_back({root, written_[at(root)], reader, {}});
    }
    std::vector<TensorId>& read = saved_[at(group_[at(root)])].read;
    if (std::find(read.begin(), read.end(), id) == read.end()) read.push_back(id);
  }

  TensorId add_like(TensorId id) {
    graph::Tensor tensor = step_.tensor(id);
    tensor.name.clear();
    step_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(step_.tensors.size()) - 1;
  }

  static Node copy(Kind kind, Phase phase, TensorId from) {
    Node node = communication(kind, {from});
    set_offload(node);
    node.phase = phase;
    node.attributes.set(Attr::EveryPass, {graph::Dim(1)});
    return node;
  }

  std::vector<Insertion> copies_out() {
    std::vector<Insertion> list;
    for (const Saved& saved : saved_) {
      Node node = copy(Kind::Push, Phase::Forward, saved.root);
      on_host_.push_back(add_like(saved.root));
      node.outputs = {on_host_.back()};
      list.push_back({std::move(node), saved.written});
    }
    return list;
  }

  // Each is issued where the one before it is read for the first time.
  std::vector<Insertion> copies_in() {
    std::vector<Insertion> list;
    std::vector<TensorId> again(step_.tensors.size(), kNone);  // what backward reads instead
    NodeId place = first_backward_;
    for (std::size_t s = 0; s < saved_.size(); ++s) {  // in the order of their first readers
      const Saved& saved = saved_[s];
      Node node = copy(Kind::Pull, Phase::Backward, on_host_[s]);
      node.outputs = {add_like(saved.root)};
      again[at(saved.root)] = node.outputs.front();
      for (const TensorId id : saved.read) {
        if (id == saved.root) continue;
        node.outputs.push_back(add_like(id));
        again[at(id)] = node.outputs.back();
      }
      list.push_back({std::move(node), place - 1});
      place = saved.first_read;
    }
    for (Node& node : step_.nodes) {
      if (!reads_saved(node)) continue;
      for (TensorId& id : node.inputs) {
        if (at(id) < again.size() && again[at(id)] != kNone) id = again[at(id)];
      }
    }
    return list;
  }

  graph::Graph& step_;
  double least_bytes_;
  std::vector<TensorId> root_;   // of each tensor
  std::vector<NodeId> written_;  // of each root: the last forward node that writes to it
  std::vector<NodeId> group_;    // of each root: its place in saved_
  std::set<TensorId> kept_;      // roots of results
  std::vector<Saved> saved_;
  std::vector<TensorId> on_host_;  // of each of them
  NodeId first_backward_ = kNone;
};

}  // namespace

void offload_activations(graph::Graph& step, double least_bytes) {
  ActivationOffload(step, least_bytes).run();
}

}  // namespace foretrain::parallel

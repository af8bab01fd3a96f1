// SPDX-License-Identifier: Apache-2.0
// python/foretrain_train/graph_input.py does the same for the training; a test compares the two.
#include "foretrain/embedding/graph_input.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "foretrain/base/error.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"

namespace foretrain::embedding {
namespace {

using graph::Attr;
using graph::Extent;
using graph::Node;
using graph::TensorId;
using Nodes = std::vector<std::int32_t>;

double axis(const Extent& extent, int place) {
  return place < extent.rank ? static_cast<double>(extent[place]) : 0;
}

double last_axis(const Extent& extent) {
  return extent.rank > 0 ? axis(extent, extent.rank - 1) : 0;
}

bool is_operator(const Node& node) {
  return node.phase == graph::Phase::Forward && !graph::is_view(node) &&
         graph::op(node).family != graph::Family::Loss;
}

class Reader {
 public:
  Reader(const graph::Graph& model, const Embedding& embedding)
      : model_(model), embedding_(embedding), bound_(graph::bind(model, {{"batch", 1}})) {
    for (std::size_t i = 0; i < embedding.kinds.size(); ++i) {
      kinds_.emplace(embedding.kinds[i], static_cast<std::int32_t>(i));
    }
    writers_.resize(model.tensors.size());
    parameter_.resize(model.tensors.size());
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      parameter_[i] = model.tensors[i].role == graph::Role::Parameter;
    }
  }

  learn::DirectedInput read() {
    add_inputs();
    for (const Node& node : model_.nodes) {
      if (is_operator(node)) {
        add_operator(node);
      } else if (graph::is_view(node)) {
        follow_view(node);
      }
    }
    const bool none = std::all_of(made_.kinds.begin(), made_.kinds.end(),
                                  [](std::int32_t kind) { return kind == 0; });
    if (none) throw Error(ErrorKind::BadInput, "embed: the model has no operators");
    for (std::size_t i = 0; i < before_.size(); ++i) add_edges(static_cast<std::int32_t>(i));
    return std::move(made_);
  }

 private:
  static std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }

  // Adds the inputs that operators read, by way of views too; not those of a loss alone.
  void add_inputs() {
    std::vector<std::optional<TensorId>> shown(model_.tensors.size());
    std::vector<bool> read(model_.tensors.size());
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) {
      if (model_.tensors[i].role == graph::Role::Input) shown[i] = static_cast<TensorId>(i);
    }
    for (const Node& node : model_.nodes) {
      if (is_operator(node)) {
        for (const TensorId id : node.inputs) {
          if (shown[at(id)]) read[at(*shown[at(id)])] = true;
        }
      } else if (graph::is_view(node) && !node.inputs.empty()) {
        for (const TensorId id : node.outputs) shown[at(id)] = shown[at(node.inputs[0])];
      }
    }
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i]) add_input(static_cast<TensorId>(i));
    }
  }

  void add_input(TensorId id) {
    const Extent& extent = bound_.extent(id);
    add_node(0, {id}, {},
             {0, 0, bound_.count(id), 0, 0, 0, 0, 0, 0, 0, axis(extent, 1), last_axis(extent)});
  }

  void add_operator(const Node& node) {
    Nodes before;
    for (const TensorId id : node.inputs) {
      for (const std::int32_t writer : writers_[at(id)]) {
        if (std::find(before.begin(), before.end(), writer) == before.end()) {
          before.push_back(writer);
        }
      }
    }
    const auto known = kinds_.find(graph::op(node).name);
    const auto other = static_cast<std::int32_t>(embedding_.kinds.size()) - 1;
    add_node(known == kinds_.end() ? other : known->second, node.outputs, std::move(before),
             features(node));
  }

  std::vector<double> features(const Node& node) const {
    const graph::Work work = graph::work({bound_, node});
    double parameters = 0;
    const Extent* weight = nullptr;
    for (auto id = node.inputs.begin(); id != node.inputs.end(); ++id) {
      if (!parameter_[at(*id)] || std::find(node.inputs.begin(), id, *id) != id) continue;
      parameters += bound_.count(*id);
      if (weight == nullptr && bound_.extent(*id).rank > 1) weight = &bound_.extent(*id);
    }
    const Extent none{};
    const Extent& output = node.outputs.empty() ? none : bound_.extent(node.outputs[0]);
    const auto number = [&](Attr key) {
      return static_cast<double>(node.attributes.number(key, 0));
    };
    const auto window = [&](int place) {
      if (node.kind == graph::Kind::Conv && weight != nullptr && weight->rank > 2 + place) {
        return axis(*weight, 2 + place);
      }
      return static_cast<double>(node.attributes.at(Attr::Kernel, place, 0));
    };
    return {work.flops,
            work.vector_flops,
            node.outputs.empty() ? 1 : bound_.count(node.outputs[0]),
            parameters,
            weight != nullptr ? axis(*weight, 0) : 0,
            weight != nullptr ? axis(*weight, 1) : 0,
            window(0),
            window(1),
            number(Attr::Stride),
            number(Attr::Groups),
            axis(output, 1),
            last_axis(output)};
  }

  void add_node(std::int32_t kind, const std::vector<TensorId>& outputs, Nodes before,
                const std::vector<double>& values) {
    const auto place = static_cast<std::int32_t>(made_.kinds.size());
    made_.kinds.push_back(kind);
    before_.push_back(std::move(before));
    for (const TensorId id : outputs) writers_[at(id)] = {place};
    for (const double value : values) made_.features.push_back(std::log1p(value));
  }

  void follow_view(const Node& node) {
    if (node.inputs.empty()) return;
    for (const TensorId id : node.outputs) {
      writers_[at(id)] = writers_[at(node.inputs[0])];
      parameter_[at(id)] = parameter_[at(id)] || parameter_[at(node.inputs[0])];
    }
  }

  // Those that reach the node within so many steps, the nearest first.
  void add_edges(std::int32_t node) {
    seen_.resize(before_.size(), -1);
    struct Place {
      std::int32_t node;
      std::int32_t steps;
    };
    std::vector<Place> queue{{node, 0}};
    seen_[static_cast<std::size_t>(node)] = node;
    std::int32_t left = embedding_.most_virtual;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const Place near = queue[i];
      if (near.steps == embedding_.reach || left == 0) break;
      for (const std::int32_t far : before_[static_cast<std::size_t>(near.node)]) {
        if (seen_[static_cast<std::size_t>(far)] == node) continue;
        if (near.steps > 0 && left == 0) break;
        seen_[static_cast<std::size_t>(far)] = node;
        if (near.steps > 0) --left;
        queue.push_back({far, near.steps + 1});
        made_.edges.push_back({far, node, near.steps + 1});
      }
    }
  }

  const graph::Graph& model_;
  const Embedding& embedding_;
  graph::Bound bound_;
  std::unordered_map<std::string_view, std::int32_t> kinds_;
  std::vector<Nodes> writers_;      // of each tensor the nodes that wrote what it shows
  std::vector<bool> parameter_;     // whether a tensor shows a parameter
  std::vector<Nodes> before_;       // of each node those whose output it reads
  std::vector<std::int32_t> seen_;  // of each node the last search that met it
  learn::DirectedInput made_;
};

}  // namespace

learn::DirectedInput graph_input(const graph::Graph& model, const Embedding& embedding) {
  return Reader(model, embedding).read();
}

}  // namespace foretrain::embedding

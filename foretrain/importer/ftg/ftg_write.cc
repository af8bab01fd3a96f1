// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "foretrain/base/json.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/importer/ftg.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::AttrForm;
using graph::Dim;
using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::TensorId;

std::string in_quotes(std::string_view text) { return json_text(Json(text)); }

// The name of an attribute's value, or "" where it is a number.
std::string_view enumerator(Attr key, std::size_t value) {
  switch (attr_form(key)) {
    case AttrForm::Operators:
      return value < graph::kKinds ? op(static_cast<graph::Kind>(value)).name : "";
    case AttrForm::Type:
      return value < kDTypeNames.size() ? kDTypeNames[value] : "";
    case AttrForm::Optimizer:
      return value < graph::kOptimizers.size() ? graph::kOptimizers[value].name : "";
    case AttrForm::Numbers:
      break;
  }
  return "";
}

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.role != graph::Role::OptimizerState) ++uses_[tensor.name];
    }
  }

  std::string write() {
    out_ = "{\n\"format\": \"foretrain-graph\",\n\"version\": 1,\n\"name\": ";
    out_ += in_quotes(graph_.name) + ",\n\"symbols\": ";
    list(graph_.symbols, [this](const std::string& symbol) { out_ += in_quotes(symbol); });
    out_ += ",\n\"tensors\": ";
    lines(graph_.tensors.size(), [this](std::size_t t) { tensor(t); });
    out_ += ",\n\"nodes\": ";
    lines(graph_.nodes.size(), [this](std::size_t n) { node(graph_.nodes[n]); });
    out_ += ",\n\"outputs\": ";
    references(graph_.outputs);
    if (graph_.loss) {
      out_ += ",\n\"loss\": ";
      reference(*graph_.loss);
    }
    if (!graph_.gradients.empty()) {
      out_ += ",\n\"gradients\": ";
      lines(graph_.gradients.size(), [this](std::size_t i) {
        references({graph_.gradients[i].first, graph_.gradients[i].second});
      });
    }
    if (!graph_.notes.empty()) {
      out_ += ",\n\"notes\": ";
      lines(graph_.notes.size(), [this](std::size_t i) { out_ += in_quotes(graph_.notes[i]); });
    }
    return std::move(out_) + "\n}\n";
  }

 private:
  template <typename Values, typename Write>
  void list(const Values& values, const Write& write) {
    out_ += '[';
    bool first = true;
    for (const auto& value : values) {
      if (!first) out_ += ", ";
      first = false;
      write(value);
    }
    out_ += ']';
  }

  template <typename Write>
  void lines(std::size_t count, const Write& write) {
    out_ += '[';
    for (std::size_t i = 0; i < count; ++i) {
      out_ += i == 0 ? "\n  " : ",\n  ";
      write(i);
    }
    out_ += count == 0 ? "]" : "\n]";
  }

  // By name where only one tensor has it, otherwise by number. Optimizer states, which are
  // named like their parameters, do not count.
  bool has_own_name(const Tensor& tensor) const {
    return !tensor.name.empty() && tensor.role != graph::Role::OptimizerState &&
           uses_.at(tensor.name) == 1;
  }

  void reference(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    out_ += has_own_name(tensor) ? in_quotes(tensor.name) : std::to_string(id);
  }

  void references(const std::vector<TensorId>& ids) {
    list(ids, [this](TensorId id) { reference(id); });
  }

  void dim(const Dim& dim) {
    const std::string text = to_string(dim, graph_.symbols);
    out_ += is_number(dim) ? text : in_quotes(text);
  }

  void tensor(std::size_t index) {
    const Tensor& tensor = graph_.tensors[index];
    out_ += '{';
    if (!has_own_name(tensor)) out_ += "\"id\": " + std::to_string(index) + ", ";
    if (!tensor.name.empty()) out_ += "\"name\": " + in_quotes(tensor.name) + ", ";
    out_ += "\"shape\": ";
    list(tensor.shape.dims(), [this](const Dim& d) { dim(d); });
    if (tensor.type != DType::F32) out_ += ", \"type\": " + in_quotes(to_string(tensor.type));
    if (tensor.role != graph::Role::Activation) {
      out_ += ", \"role\": " + in_quotes(role_name(tensor.role));
    }
    if (tensor.trainable != (tensor.role == graph::Role::Parameter)) {
      out_ += std::string(", \"trainable\": ") + (tensor.trainable ? "true" : "false");
    }
    out_ += '}';
  }

  void node(const Node& node) {
    out_ += "{\"op\": " + in_quotes(op(node).name);
    if (node.phase != graph::Phase::Forward)
      out_ += ", \"phase\": " + in_quotes(phase_name(node.phase));
    if (!node.scope.empty()) out_ += ", \"scope\": " + in_quotes(node.scope);
    if (!node.label.empty()) out_ += ", \"label\": " + in_quotes(node.label);
    out_ += ", \"inputs\": ";
    references(node.inputs);
    out_ += ", \"outputs\": ";
    references(node.outputs);
    if (!node.attributes.list().empty()) attributes(node.attributes);
    out_ += '}';
  }

  void attributes(const graph::Attributes& attributes) {
    out_ += ", \"attributes\": {";
    bool first = true;
    for (const graph::Attribute& attribute : attributes.list()) {
      if (!first) out_ += ", ";
      first = false;
      out_ += in_quotes(attr_name(attribute.key)) + ": ";
      const auto write = [&](const Dim& value) { attribute_value(attribute.key, value); };
      if (attribute.values.size() == 1) {
        write(attribute.values.front());
      } else {
        list(attribute.values, write);
      }
    }
    out_ += '}';
  }

  void attribute_value(Attr key, const Dim& value) {
    const std::string_view name = enumerator(key, static_cast<std::size_t>(value.factor));
    if (name.empty()) {
      dim(value);
    } else {
      out_ += in_quotes(name);
    }
  }

  const Graph& graph_;
  std::unordered_map<std::string_view, int> uses_;  // how many tensors have a name
  std::string out_;
};

}  // namespace

std::string write_ftg(const Graph& graph) { return Writer(graph).write(); }

}  // namespace foretrain::importer

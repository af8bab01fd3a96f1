// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/import.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/onnx/call.h"
#include "foretrain/importer/onnx/names.h"
#include "foretrain/importer/onnx/tensor.h"

namespace foretrain::importer {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Shape;
using graph::TensorId;
using Inputs = std::vector<const OnnxValueInfo*>;

constexpr std::int64_t kOldest = 7;      // operator set
constexpr std::size_t kMostListed = 20;  // operators in a note

void check(const OnnxModel& model) {
  if (model.graph.nodes.empty() && model.graph.outputs.empty()) {
    throw Error(ErrorKind::BadInput, "is not an ONNX model: it has no graph");
  }
  for (const OnnxOpset& opset : model.opsets) {
    if (opset.domain.empty() && opset.version < kOldest) {
      throw Error(ErrorKind::Unsupported, "operator set " + std::to_string(opset.version) +
                                              " is older than 7; convert the model first");
    }
  }
}

// Old files list weights among the inputs.
Inputs true_inputs(const OnnxGraph& graph) {
  std::unordered_set<std::string_view> stored;
  for (const OnnxTensor& tensor : graph.initializers) stored.insert(tensor.name);
  Inputs inputs;
  for (const OnnxValueInfo& input : graph.inputs) {
    if (stored.contains(input.name)) continue;
    if (!input.shape || input.type == 0) {
      throw Error(ErrorKind::Unsupported,
                  "the input '" + printable(input.name) + "' is no tensor of a stated shape");
    }
    inputs.push_back(&input);
  }
  return inputs;
}

void add_inputs(OnnxTranslation& all, OnnxScope& scope, const Inputs& inputs) {
  for (const OnnxValueInfo* input : inputs) {
    OnnxValue value;
    value.name = input->name;
    value.shape = input_shape(all.symbols, *input);
    if (all.replaces_batch && value.shape.rank() > 0) value.shape[0] = graph::symbol(0);
    value.type = type_of_onnx(input->type);
    elements(value.shape);  // throws where there are too many
    all.graph.tensors.push_back({std::string(input->name.substr(0, 1000)), value.shape, value.type,
                                 graph::Role::Input, false});
    value.tensor = static_cast<TensorId>(all.graph.tensors.size()) - 1;
    if (!scope.values.try_emplace(input->name, new_value(all, std::move(value))).second) {
      throw Error(ErrorKind::BadInput, "two inputs are named '" + printable(input->name) + "'");
    }
  }
}

// What may be the loss that a file written for training ends in.
std::unordered_set<TensorId> losses_of(const Graph& graph) {
  std::unordered_set<TensorId> losses;
  for (const graph::Node& node : graph.nodes) {
    if (node.kind != graph::Kind::CrossEntropy) continue;
    if (graph.tensor(node.outputs.front()).shape.rank() == 0) losses.insert(node.outputs.front());
  }
  return losses;
}

// What the graph computes; constants are nothing that is computed.
void add_outputs(OnnxTranslation& all, OnnxScope& scope) {
  static const OnnxNode kEnd{};
  const OnnxCall call(all, scope, kEnd);
  const std::unordered_set<TensorId> losses = losses_of(all.graph);
  std::unordered_set<TensorId> listed;
  for (const OnnxValueInfo& output : all.model.graph.outputs) {
    OnnxValue* value = find_value(scope, output.name);
    if (value == nullptr) {
      throw Error(ErrorKind::BadInput,
                  "no node writes the output '" + printable(output.name) + "'");
    }
    std::vector<OnnxValue*> values{value};
    if (value->is_sequence) values = value->items;
    for (OnnxValue* part : values) {
      if (part->known != OnnxValue::Known::Nothing || part->is_sequence) continue;
      const TensorId id = tensor_of(call, *part);
      if (all.graph.tensor(id).role == graph::Role::Buffer) continue;
      if (!listed.insert(id).second) continue;
      if (!all.graph.loss && losses.contains(id)) {
        all.graph.loss = id;
      } else {
        all.graph.outputs.push_back(id);
      }
    }
  }
  if (all.graph.outputs.empty() && !all.graph.loss) {
    throw Error(ErrorKind::BadInput,
                "the outputs do not depend on the inputs: nothing is computed");
  }
}

bool stores_short_floats(const OnnxModel& model) {
  return std::any_of(model.graph.initializers.begin(), model.graph.initializers.end(),
                     [](const OnnxTensor& tensor) { return is_short_float(tensor.type); });
}

void note_opaque(Graph& graph) {
  std::map<std::string, int> counts;
  for (const graph::Node& node : graph.nodes) {
    if (node.kind == graph::Kind::Opaque) ++counts[node.label];
  }
  if (counts.empty()) return;
  std::string note = "opaque operators: ";
  std::size_t listed = 0;
  for (const auto& [name, count] : counts) {
    if (listed == kMostListed) break;
    if (listed++ > 0) note += ", ";
    note += printable(name) + " x" + std::to_string(count);
  }
  if (listed < counts.size()) note += " and " + std::to_string(counts.size() - listed) + " more";
  graph.notes.push_back(note);
}

void note_folded_norms(const OnnxModel& model, std::vector<std::string>& notes) {
  const std::vector<OnnxNode>& nodes = model.graph.nodes;
  const auto folded = std::count_if(nodes.begin(), nodes.end(), has_folded_norm);
  if (folded == 0) return;
  notes.push_back(std::to_string(folded) +
                  " convolutions have a batch norm folded in, which training would run and learn; "
                  "docs/onnx.md says how to export for training");
}

void add_notes(const OnnxTranslation& all, Graph& graph) {
  std::vector<std::string>& notes = graph.notes;
  if (!graph.loss) notes.emplace_back("no loss in the file: training starts from the outputs");
  if (all.replaces_batch) {
    notes.emplace_back(
        "the file fixes the batch at 1; the first dimension of its inputs was made "
        "the batch");
  } else if (!all.symbols.has_batch) {
    notes.emplace_back(
        "the file fixes the batch, so every step computes what the file says; export "
        "it with an open first dimension to choose the batch");
  }
  notes.insert(notes.end(), all.symbols.notes.begin(), all.symbols.notes.end());
  if (stores_short_floats(all.model)) {
    notes.emplace_back("the file stores 16-bit floats; the precision that is asked for decides");
  }
  if (all.merged_parameters > 0) {
    notes.push_back(
        std::to_string(all.merged_parameters) +
        " weights that the exporter had merged because they were equal count per layer");
  }
  if (all.tied_parameters > 0) {
    notes.push_back(std::to_string(all.tied_parameters) +
                    " weights that are turned copies of an embedding table count as that table");
  }
  note_folded_norms(all.model, notes);
  note_opaque(graph);
}

Graph translate(const OnnxModel& model, const Inputs& inputs, const OnnxSymbols& symbols,
                OnnxBudget& budget, bool replaces_batch) {
  OnnxTranslation all{.model = model, .budget = budget};
  all.symbols = symbols;
  all.replaces_batch = replaces_batch;
  all.graph.name = std::string(model.graph.name.substr(0, 1000));
  all.graph.symbols = symbols.names;
  for (const OnnxFunction& function : model.functions) {
    all.functions.try_emplace({function.domain, function.name, function.overload}, &function);
  }
  for (const OnnxValueInfo& info : model.graph.values) {
    if (!info.torch_kind.empty()) all.torch_kinds.try_emplace(info.name, info.torch_kind);
  }
  OnnxScope scope;
  scope.opsets = &model.opsets;
  open_scope(all, scope, model.graph);
  add_inputs(all, scope, inputs);
  translate_nodes(all, scope, model.graph.nodes);
  add_outputs(all, scope);
  Graph graph = without_dead_nodes(std::move(all.graph));
  add_notes(all, graph);
  verify(graph);
  return graph;
}

// Whether the first dimension of every input is 1, as exporters write it for one sample.
bool has_single_sample(const Inputs& inputs, const OnnxSymbols& symbols) {
  bool any = false;
  for (const OnnxValueInfo* input : inputs) {
    const Shape shape = input_shape(symbols, *input);
    if (shape.rank() == 0) continue;
    if (!(shape[0] == Dim(1))) return false;
    any = true;
  }
  return any;
}

}  // namespace

Graph translate_onnx(const OnnxModel& model, const graph::Binding& values) {
  check(model);
  OnnxBudget budget;
  budget.left += model.nodes * OnnxBudget::kPerNode + model.entries * OnnxBudget::kPerEntry;
  const Inputs inputs = true_inputs(model.graph);
  const OnnxSymbols symbols = find_symbols(inputs, values);
  const bool fixed = std::any_of(values.begin(), values.end(),
                                 [](const auto& value) { return value.first == "batch"; });
  if (!symbols.has_batch && !fixed && has_single_sample(inputs, symbols)) {
    try {
      return translate(model, inputs, symbols, budget, true);
    } catch (const Error&) {
      // Some operator only works for one sample; then the batch stays as it is.
    }
  }
  return translate(model, inputs, symbols, budget, false);
}

Graph without_dead_nodes(Graph graph) {
  std::vector<bool> needed(graph.tensors.size(), false);
  const auto at = [](TensorId id) { return static_cast<std::size_t>(id); };
  for (const TensorId id : graph.outputs) needed[at(id)] = true;
  if (graph.loss) needed[at(*graph.loss)] = true;
  std::vector<bool> runs(graph.nodes.size(), false);
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    for (const TensorId id : graph.nodes[n].outputs) runs[n] = runs[n] || needed[at(id)];
    if (!runs[n]) continue;
    for (const TensorId id : graph.nodes[n].inputs) needed[at(id)] = true;
    for (const TensorId id : graph.nodes[n].outputs) needed[at(id)] = true;
  }
  std::vector<TensorId> now(graph.tensors.size(), -1);
  std::vector<graph::Tensor> tensors;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!needed[t] && graph.tensors[t].role != graph::Role::Input) continue;
    now[t] = static_cast<TensorId>(tensors.size());
    tensors.push_back(std::move(graph.tensors[t]));
  }
  graph.tensors = std::move(tensors);
  std::vector<graph::Node> nodes;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!runs[n]) continue;
    for (TensorId& id : graph.nodes[n].inputs) id = now[at(id)];
    for (TensorId& id : graph.nodes[n].outputs) id = now[at(id)];
    nodes.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(nodes);
  for (TensorId& id : graph.outputs) id = now[at(id)];
  if (graph.loss) graph.loss = now[at(*graph.loss)];
  return graph;
}

}  // namespace foretrain::importer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foretrain/graph/graph.h"
#include "foretrain/importer/onnx/budget.h"
#include "foretrain/importer/onnx/model.h"
#include "foretrain/importer/onnx/scalar.h"
#include "foretrain/importer/onnx/symbols.h"

namespace foretrain::importer {

// Some of the values of a weight, in any order.
struct OnnxPart {
  const OnnxTensor* stored;
  std::int64_t elements;
};

// What a name in the file stands for.
struct OnnxValue {
  // Which of its values are known: what shapes depend on must be.
  enum class Known : std::uint8_t { Nothing, Uniform, All };

  std::string_view name;
  graph::Shape shape;
  DType type = DType::F32;
  Known known = Known::Nothing;
  std::vector<Scalar> content;            // one where uniform, else all of them row by row
  std::optional<graph::TensorId> tensor;  // once it is in the graph
  const OnnxTensor* stored = nullptr;     // a weight or constant of the file
  bool from_constant = false;             // of a Constant node, not of an initializer
  bool transposed = false;                // of a matrix: turned against the file
  std::vector<OnnxPart> parts;            // what it was put together from, if from weights only
  std::vector<OnnxValue*> items;          // of a sequence
  bool is_sequence = false;
};

// The names that the nodes of a graph or function body see.
struct OnnxScope {
  const OnnxScope* outer = nullptr;  // graphs inside nodes see the names around them
  const std::vector<OnnxOpset>* opsets = nullptr;
  const std::vector<OnnxAttribute>* arguments = nullptr;      // attributes of a function's call
  const std::vector<OnnxAttribute>* defaults = nullptr;       // and those that it left out
  const OnnxScope* caller = nullptr;                          // where the arguments come from
  std::string path;                                           // of the call, for layers' names
  std::unordered_map<std::string_view, OnnxValue*> values{};  // null: an input that was left out
  std::unordered_map<std::string_view, const OnnxValueInfo*> infos{};
  std::unordered_map<std::string_view, int> uses{};  // how many nodes read each name
};

// A parameter or buffer of the graph that stands for a tensor of the file.
struct OnnxPlaced {
  graph::TensorId tensor;
  bool transposed;      // turned against the file
  std::string layer{};  // that uses it first
};

// Everything that grows while a file becomes a graph.
struct OnnxTranslation {
  const OnnxModel& model;
  OnnxBudget& budget;
  graph::Graph graph{};
  OnnxSymbols symbols{};
  bool replaces_batch = false;  // the file says 1 where the graph says `batch`
  std::deque<OnnxValue> values{};
  std::unordered_map<const OnnxTensor*, OnnxPlaced> placed{};
  std::map<std::pair<const OnnxTensor*, std::string>, graph::TensorId> copies{};  // by layer
  std::vector<const OnnxTensor*> tables{};                                        // of embeddings
  std::unordered_map<const OnnxTensor*, std::vector<graph::TensorId>> split{};  // recurrent weights
  std::unordered_map<std::string_view, std::string_view> torch_kinds{};         // of initializers
  // By domain, name and overload.
  std::map<std::array<std::string_view, 3>, const OnnxFunction*> functions{};
  std::vector<const OnnxFunction*> active{};  // that are being inlined
  int merged_parameters = 0;  // that the exporter had made one because they were equal
  int tied_parameters = 0;    // that it had made two though they are one
};

// A node's inputs and outputs among the names of its scope. Null for a name not known.
OnnxValue* find_value(const OnnxScope& scope, std::string_view name);

// Translates nodes in their order. Throws Error naming the node.
void translate_nodes(OnnxTranslation& all, OnnxScope& scope, const std::vector<OnnxNode>& nodes);

// Makes the graph's initializers known to the scope, and its value_info and uses.
void open_scope(OnnxTranslation& all, OnnxScope& scope, const OnnxGraph& graph);

}  // namespace foretrain::importer

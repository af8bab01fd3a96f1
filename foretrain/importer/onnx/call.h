// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/graph/graph.h"
#include "foretrain/importer/onnx/translation.h"

namespace foretrain::importer {

// One node of the file while it is translated: what it says, what it reads, and how what stands
// for it is added to the graph. Whatever does not fit throws Error; translate_nodes adds the
// node's name to the message.
class OnnxCall {
 public:
  OnnxCall(OnnxTranslation& all, OnnxScope& scope, const OnnxNode& node)
      : all_(all), scope_(scope), node_(node) {}

  OnnxTranslation& all() const { return all_; }
  OnnxScope& scope() const { return scope_; }
  const OnnxNode& node() const { return node_; }
  std::int64_t version() const;  // of the operator set that the node comes from

  // Attributes; a list that is not there is empty.
  const OnnxAttribute* attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string_view text(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name) const;

  // Inputs. Those left out at the end count as not there.
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  bool has(int i) const;
  OnnxValue& in(int i) const;
  const graph::Shape& shape(int i) const { return in(i).shape; }
  int rank(int i) const { return in(i).shape.rank(); }
  // Whether all values of input i are known.
  bool knows(int i) const { return has(i) && in(i).known == OnnxValue::Known::All; }
  // The one value that all elements of input i have, if they are known to.
  const Scalar* uniform(int i) const;
  // Values of input i: whole numbers, or sizes. Throws Error(Unsupported) where they depend on
  // data or are no such thing.
  std::vector<std::int64_t> numbers(int i) const;
  std::vector<graph::Dim> sizes(int i) const;
  // Floating-point values of input i; empty where they are not known.
  std::vector<double> reals(int i) const;
  // The numbers of an attribute that newer operator sets made input i; empty where neither is.
  std::vector<std::int64_t> listed(std::string_view name, int i) const;
  // An axis counted from the front.
  int axis(std::int64_t axis, int rank) const;
  int axis_attribute(std::string_view name, std::int64_t otherwise, int rank) const;

  // The tensor of the graph that input i is.
  graph::TensorId tensor(int i) const;
  // Likewise, where the operator's weights belong: what is stored there is learned.
  graph::TensorId weight(int i) const;

  // Adds a node and returns its outputs, or the first of them.
  std::vector<graph::TensorId> emit_all(graph::Kind kind, std::vector<graph::TensorId> inputs,
                                        graph::Attributes attributes = {}) const;
  graph::TensorId emit(graph::Kind kind, std::vector<graph::TensorId> inputs,
                       graph::Attributes attributes = {}) const;
  graph::TensorId reshape(graph::TensorId id, const graph::Shape& shape) const;
  graph::TensorId transpose(graph::TensorId id, const std::vector<int>& order) const;
  // Adds an opaque node whose outputs have these shapes, of one type.
  std::vector<graph::TensorId> emit_opaque(std::vector<graph::TensorId> inputs,
                                           const std::vector<graph::Shape>& shapes,
                                           DType type) const;
  const graph::Shape& shape_of(graph::TensorId id) const { return all_.graph.tensor(id).shape; }

  // Outputs. Those that nobody named are dropped.
  bool wants(int i) const;
  void give(int i, graph::TensorId id) const;
  void give(int i, OnnxValue value) const;
  void give(int i, OnnxValue* value) const;  // another name for the same
  void give_content(int i, const graph::Shape& shape, DType type,
                    std::vector<Scalar> content) const;
  void give_uniform(int i, const graph::Shape& shape, DType type, Scalar value) const;
  bool given(int i) const;
  // Pays for arithmetic on `count` known values, or pairs of terms where these are sums of symbols.
  void charge(std::size_t count) const;

  // "layer1.0.conv1": the layer that the node comes from.
  const std::string& path() const;

  [[noreturn]] static void fail(const std::string& what) { throw Error(ErrorKind::BadInput, what); }
  [[noreturn]] static void fail_unsupported(const std::string& what) {
    throw Error(ErrorKind::Unsupported, what);
  }

 private:
  OnnxTranslation& all_;
  OnnxScope& scope_;
  const OnnxNode& node_;
  mutable std::optional<std::string> path_;  // once it was asked for: it may look at all inputs
};

// A new value that the translation owns.
OnnxValue* new_value(OnnxTranslation& all, OnnxValue value);

// The tensor of the graph that a value is; what is not in the graph yet is added as a parameter
// or buffer. weights.cc says which.
graph::TensorId tensor_of(const OnnxCall& call, OnnxValue& value);
graph::TensorId weight_of(const OnnxCall& call, OnnxValue& value);
// A stored matrix of [k, n], added or turned to the [n, k] that linear layers take.
graph::TensorId turned_weight_of(const OnnxCall& call, OnnxValue& value);
// Running statistics: never learned, and never shared with another layer.
graph::TensorId statistics_of(const OnnxCall& call, OnnxValue& value);
// A tensor that is kept between steps but not learned.
graph::TensorId add_buffer(OnnxTranslation& all, std::string_view name, const graph::Shape& shape,
                           DType type);
// Parameters that a value consists of, in order, if it was put together from whole ones.
std::vector<graph::TensorId> whole_parts(const OnnxCall& call, const OnnxValue& value);

// The shape of a tensor of the file.
graph::Shape shape_of(const OnnxTensor& tensor);
// A tensor of the file as a value: an initializer or, if `from_constant`, of a Constant node.
OnnxValue stored_value(const OnnxTranslation& all, const OnnxTensor& tensor, bool from_constant);

}  // namespace foretrain::importer

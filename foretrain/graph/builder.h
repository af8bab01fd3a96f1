// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Builds a graph node by node; shapes are inferred as it grows, so a mistake is reported at
// the node that makes it. Scopes nest as a framework's modules do.
class Builder {
 public:
  explicit Builder(std::string name);

  TensorId input(const std::string& name, const Shape& shape, DType type = DType::F32);
  TensorId parameter(const std::string& name, const Shape& shape);  // name within the scope
  TensorId buffer(const std::string& name, const Shape& shape, DType type = DType::F32);

  // Appends a node and returns its first output, or all of them.
  TensorId add(Kind kind, const std::vector<TensorId>& inputs, const Attributes& attributes = {});
  std::vector<TensorId> add_all(Kind kind, const std::vector<TensorId>& inputs,
                                const Attributes& attributes = {});

  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }
  Dim batch() const { return symbol(0); }

  void enter(const std::string& scope);
  void leave();

  void output(TensorId id) { graph_.outputs.push_back(id); }
  void loss(TensorId id) { graph_.loss = id; }
  void note(const std::string& text) { graph_.notes.push_back(text); }

  Graph finish();  // the builder is empty afterwards

 private:
  std::string path(const std::string& name) const;

  Graph graph_;
  std::vector<std::string> scopes_;
};

// Keeps a scope open for the lifetime of the object.
class Scope {
 public:
  Scope(Builder& builder, const std::string& name) : builder_(builder) { builder_.enter(name); }
  ~Scope() { builder_.leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Builder& builder_;
};

// Infers the outputs of `node`, appends it with new tensors of the role that its phase gives
// and returns their ids. The one way in which nodes are added, by builders and by passes.
// Throws Error(BadInput) naming the node when the inputs do not fit the operator.
std::vector<TensorId> append(Graph& graph, Node node);

// The same for a forward node of one output.
TensorId append_one(Graph& graph, Kind kind, std::vector<TensorId> inputs, const std::string& scope,
                    Attributes attributes = {});

}  // namespace foretrain::graph

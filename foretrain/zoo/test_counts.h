// SPDX-License-Identifier: Apache-2.0
// What the tests of models ask of a graph.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "foretrain/graph/op.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {

// FLOPs of the forward pass's GEMMs; a multiply-add is two.
inline double gemm_flops(const graph::Graph& model, std::int64_t batch) {
  const graph::Bound bound = graph::bind(model, {{"batch", batch}});
  double flops = 0;
  for (const graph::Node& node : model.nodes) flops += graph::work({bound, node}).flops;
  return flops;
}

// Multiply-adds of the forward pass for one sample, in billions.
inline double forward_gmac(const std::string& model) { return gemm_flops(build(model), 1) / 2e9; }

inline std::int64_t count(const graph::Graph& model, graph::Kind kind) {
  return std::count_if(model.nodes.begin(), model.nodes.end(),
                       [kind](const graph::Node& node) { return node.kind == kind; });
}

inline bool has_tensor(const graph::Graph& model, const std::string& name) {
  return std::any_of(model.tensors.begin(), model.tensors.end(),
                     [&](const graph::Tensor& tensor) { return tensor.name == name; });
}

// Of the tensor called `name`: "[64, 3, 7, 7]".
inline std::string shape_of(const std::string& model, const std::string& name) {
  const graph::Graph graph = build(model);
  for (const graph::Tensor& tensor : graph.tensors) {
    if (tensor.name == name) return to_string(tensor.shape, graph.symbols);
  }
  return "none";
}

// A model and what is published of it.
struct Published {
  const char* model;
  std::int64_t parameters;
  double gmac = 0;          // as forward_gmac
  double within = 0.00051;  // of it: three digits after the point are published
};

inline void expect_parameters(std::span<const Published> rows) {
  for (const Published& row : rows) {
    EXPECT_EQ(graph::parameter_count(build(row.model)), row.parameters) << row.model;
  }
}

inline void expect_work(std::span<const Published> rows) {
  for (const Published& row : rows) {
    EXPECT_NEAR(forward_gmac(row.model), row.gmac, row.within) << row.model;
  }
}

inline void expect_one_logit_per_class(std::span<const Published> rows, std::int64_t classes) {
  for (const Published& row : rows) {
    const graph::Graph graph = build(row.model);
    ASSERT_EQ(graph.outputs.size(), 1u) << row.model;
    EXPECT_EQ(graph.tensor(graph.outputs[0]).shape, (graph::Shape{graph::symbol(0), classes}))
        << row.model;
  }
}

// An overwritten tensor must not be read again: no other node has it among its inputs later.
inline void expect_no_use_of_overwritten(const std::string& model) {
  std::set<graph::TensorId> gone;
  for (const graph::Node& node : build(model).nodes) {
    for (const graph::TensorId id : node.inputs) {
      EXPECT_EQ(gone.count(id), 0u) << model << " " << node.scope;
    }
    if (node.attributes.number(graph::Attr::Inplace, 0) != 0) gone.insert(node.inputs[0]);
  }
}

}  // namespace foretrain::zoo

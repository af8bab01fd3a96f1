// SPDX-License-Identifier: Apache-2.0
// GEMMs. With a weight of the file on the right they are linear layers.
#include <array>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::string_view kMicrosoft = "com.microsoft";

bool is_matrix_weight(const OnnxValue& value) {
  return value.stored != nullptr && !value.tensor && value.shape.rank() == 2 &&
         is_floating(value.type);
}

Attributes transposes(bool a, bool b) {
  Attributes attributes;
  if (a) attributes.set(Attr::TransposeA, {Dim(1)});
  if (b) attributes.set(Attr::TransposeB, {Dim(1)});
  return attributes;
}

TensorId swapped(const OnnxCall& call, TensorId id) {
  std::vector<int> order;
  for (int i = 0; i < call.shape_of(id).rank(); ++i) order.push_back(i);
  if (order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return call.transpose(id, order);
}

// A times B, each turned first if so asked.
TensorId product(const OnnxCall& call, bool turn_a, bool turn_b) {
  OnnxValue& b = call.in(1);
  if (is_matrix_weight(b)) {
    TensorId x = call.tensor(0);
    if (turn_a) x = swapped(call, x);
    const TensorId weight = turn_b ? weight_of(call, b) : turned_weight_of(call, b);
    return call.emit(Kind::Linear, {x, weight});
  }
  return call.emit(Kind::MatMul, {call.weight(0), call.weight(1)}, transposes(turn_a, turn_b));
}

// A vector counts as a matrix of one row on the left, of one column on the right.
void matmul(const OnnxCall& call, Kind /*kind*/) {
  const Shape a = call.shape(0);
  const Shape b = call.shape(1);
  if (a.rank() == 0 || b.rank() == 0) OnnxCall::fail("takes no scalars");
  if (is_matrix_weight(call.in(1)) || (a.rank() >= 2 && b.rank() >= 2)) {
    return call.give(0, product(call, false, false));
  }
  TensorId left = call.weight(0);
  TensorId right = call.weight(1);
  if (a.rank() == 1) left = call.reshape(left, {Dim(1), a[0]});
  if (b.rank() == 1) right = call.reshape(right, {b[0], Dim(1)});
  const TensorId result = call.emit(Kind::MatMul, {left, right});
  const Shape full = call.shape_of(result);
  Shape shape;
  for (int i = 0; i < full.rank(); ++i) {
    const bool row = a.rank() == 1 && i == full.rank() - 2;
    const bool column = b.rank() == 1 && i == full.rank() - 1;
    if (!row && !column) shape.push_back(full[i]);
  }
  call.give(0, call.reshape(result, shape));
}

void fused_matmul(const OnnxCall& call, Kind /*kind*/) {
  if (call.rank(0) < 2 || call.rank(1) < 2) OnnxCall::fail("takes tensors of rank 2 or more");
  const TensorId result =
      product(call, call.integer("transA", 0) != 0, call.integer("transB", 0) != 0);
  call.give(0, call.real("alpha", 1) == 1 ? result : call.emit(Kind::Scale, {result}));
}

// alpha A B + beta C. A vector C is the bias of a linear layer.
void gemm(const OnnxCall& call, Kind /*kind*/) {
  if (call.rank(0) != 2 || call.rank(1) != 2) OnnxCall::fail("takes two matrices");
  const bool turn_b = call.integer("transB", 0) != 0;
  TensorId result = product(call, call.integer("transA", 0) != 0, turn_b);
  if (call.real("alpha", 1) != 1) result = call.emit(Kind::Scale, {result});
  if (!call.has(2) || call.real("beta", 1) == 0) return call.give(0, result);
  const Shape shape = call.shape_of(result);
  const OnnxValue& c = call.in(2);
  std::vector<graph::Node>& nodes = call.all().graph.nodes;
  const bool linear =
      !nodes.empty() && nodes.back().kind == Kind::Linear && nodes.back().outputs.front() == result;
  const bool bias = linear && c.stored != nullptr && c.shape.rank() == 1 && c.shape[0] == shape[1];
  if (bias && call.real("beta", 1) == 1) {
    const TensorId id = call.weight(2);
    nodes.back().inputs.push_back(id);
    return call.give(0, result);
  }
  TensorId addend = call.weight(2);
  if (call.real("beta", 1) != 1) addend = call.emit(Kind::Scale, {addend});
  call.give(0, call.emit(Kind::Add, {result, addend}));
}

// Products of 8-bit tensors: no training runs them, but the shape is that of the product.
void integer_matmul(const OnnxCall& call, Kind /*kind*/) {
  const bool scaled = call.node().op_type == "QLinearMatMul";
  const int right = scaled ? 3 : 1;
  const Shape& a = call.shape(0);
  const Shape& b = call.shape(right);
  if (a.rank() < 2 || b.rank() < 2) return translate_unknown(call);
  Shape result = a;
  result[a.rank() - 1] = b[b.rank() - 1];
  if (b.rank() > 2 && b.rank() != a.rank()) return translate_unknown(call);
  give_opaque(call, result, scaled ? DType::I8 : DType::I32);
}

constexpr std::array kRules{
    OnnxRule{"MatMul", matmul},
    OnnxRule{"Gemm", gemm},
    OnnxRule{"MatMulInteger", integer_matmul},
    OnnxRule{"QLinearMatMul", integer_matmul},
    OnnxRule{"FusedMatMul", fused_matmul, Kind::MatMul, kMicrosoft},
    OnnxRule{"TransposeMatMul", fused_matmul, Kind::MatMul, kMicrosoft},
    OnnxRule{"FusedGemm", gemm, Kind::Linear, kMicrosoft},
};

}  // namespace

std::span<const OnnxRule> onnx_product_rules() { return kRules; }

}  // namespace foretrain::importer

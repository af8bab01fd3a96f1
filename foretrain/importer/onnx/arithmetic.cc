// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of several tensors. With a constant operand they are the unary ones
// that frameworks run, and between known values they are computed here.
#include <array>
#include <utility>

#include "foretrain/graph/rules.h"
#include "foretrain/importer/onnx/fold.h"
#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;
using Operands = std::span<const Scalar* const>;

constexpr std::size_t kLookBack = 8;  // nodes between a GEMM and the addition of its bias

// The value of input i, if it is one constant that does not enlarge the other operand.
const Scalar* constant_operand(const OnnxCall& call, int i, int other) {
  const Scalar* value = call.uniform(i);
  if (value == nullptr) return nullptr;
  const bool fits = graph::broadcast(call.shape(i), call.shape(other)) == call.shape(other);
  return fits ? value : nullptr;
}

bool is_number(const Scalar* scalar, double number) {
  return scalar != nullptr && scalar->number() == number;
}

std::optional<Scalar> combine_binary(Kind kind, bool whole, Operands of) {
  switch (kind) {
    case Kind::Add:
      return add(*of[0], *of[1]);
    case Kind::Sub:
      return subtract(*of[0], *of[1]);
    case Kind::Mul:
      return multiply(*of[0], *of[1]);
    case Kind::Div:
      return divide(*of[0], *of[1], whole);
    default:
      return power(*of[0], *of[1]);
  }
}

// A linear layer of rank 3 is exported as a GEMM and an addition of a vector.
bool join_bias(const OnnxCall& call, int product, int bias) {
  const OnnxValue& of = call.in(product);
  OnnxValue& vector = call.in(bias);
  const auto uses = call.scope().uses.find(call.node().inputs[static_cast<std::size_t>(product)]);
  if (!of.tensor || uses == call.scope().uses.end() || uses->second != 1) return false;
  if (vector.stored == nullptr || !is_floating(vector.type) || vector.shape.rank() != 1)
    return false;
  std::vector<graph::Node>& nodes = call.all().graph.nodes;
  for (std::size_t back = 1; back <= std::min(kLookBack, nodes.size()); ++back) {
    const std::size_t n = nodes.size() - back;
    if (nodes[n].outputs.empty() || nodes[n].outputs.front() != *of.tensor) continue;
    const bool open = nodes[n].kind == Kind::Linear && nodes[n].inputs.size() == 2;
    if (!open || !(of.shape[of.shape.rank() - 1] == vector.shape[0])) return false;
    const TensorId id = weight_of(call, vector);
    nodes[n].inputs.push_back(id);
    call.give(0, *of.tensor);
    return true;
  }
  return false;
}

// One operand is a constant: which unary operator that makes.
void with_constant(const OnnxCall& call, Kind kind, int tensor) {
  const bool constant_first = tensor == 1;
  const Scalar* value = call.uniform(1 - tensor);
  const bool neutral =
      kind == Kind::Add || (kind == Kind::Sub && !constant_first)
          ? is_number(value, 0)
          : (kind == Kind::Mul || (kind == Kind::Div && !constant_first)) && is_number(value, 1);
  if (neutral) return call.give(0, &call.in(tensor));
  Kind unary = Kind::Scale;
  if (kind == Kind::Add || kind == Kind::Sub) unary = Kind::Shift;
  if (kind == Kind::Sub && constant_first) unary = Kind::Neg;
  if (kind == Kind::Div && constant_first) unary = Kind::Rsqrt;  // likewise from its output
  call.give(0, call.emit(unary, {call.tensor(tensor)}));
}

void binary(const OnnxCall& call, Kind kind) {
  const bool whole = !is_floating(call.in(0).type);
  const auto combine = [=](Operands of) { return combine_binary(kind, whole, of); };
  if (fold_elementwise(call, 2, call.in(0).type, combine)) return;
  if (constant_operand(call, 1, 0) != nullptr) return with_constant(call, kind, 0);
  if (constant_operand(call, 0, 1) != nullptr) return with_constant(call, kind, 1);
  if (kind == Kind::Add && (join_bias(call, 0, 1) || join_bias(call, 1, 0))) return;
  call.give(0, call.emit(kind, {call.tensor(0), call.tensor(1)}));
}

void pow(const OnnxCall& call, Kind /*kind*/) {
  const auto combine = [](Operands of) { return power(*of[0], *of[1]); };
  if (fold_elementwise(call, 2, call.in(0).type, combine)) return;
  if (const Scalar* exponent = constant_operand(call, 1, 0)) {
    if (is_number(exponent, 1)) return call.give(0, &call.in(0));
    const Kind unary = is_number(exponent, 0.5) ? Kind::Sqrt : Kind::Pow;
    return call.give(0, call.emit(unary, {call.tensor(0)}));
  }
  if (constant_operand(call, 0, 1) != nullptr) {
    return call.give(0, call.emit(Kind::Exp, {call.tensor(1)}));
  }
  give_opaque(call, graph::broadcast(call.shape(0), call.shape(1)), call.in(0).type);
}

void modulo_rule(const OnnxCall& call, Kind /*kind*/) {
  const bool sign_of_dividend = call.integer("fmod", 0) != 0;
  const auto combine = [=](Operands of) { return modulo(*of[0], *of[1], sign_of_dividend); };
  if (fold_elementwise(call, 2, call.in(0).type, combine)) return;
  give_opaque(call, graph::broadcast(call.shape(0), call.shape(1)), call.in(0).type);
}

// Bitwise operators: nothing in training, but their shape is known.
void binary_opaque(const OnnxCall& call, Kind /*kind*/) {
  give_opaque(call, graph::broadcast(call.shape(0), call.shape(1)), call.in(0).type);
}

std::optional<Scalar> extreme(Kind kind, Operands of) {
  const Scalar* best = of[0];
  for (const Scalar* other : of.subspan(1)) {
    const std::optional<bool> below = less(*best, *other);
    if (!below) return std::nullopt;
    if (*below == (kind == Kind::Maximum)) best = other;
  }
  return *best;
}

void extreme_rule(const OnnxCall& call, Kind kind) {
  const DType type = call.in(0).type;
  const auto combine = [=](Operands of) { return extreme(kind, of); };
  if (fold_elementwise(call, call.inputs(), type, combine)) return;
  if (call.inputs() == 1) return translate_identity(call, kind);
  if (call.inputs() == 2) {
    for (const int i : {0, 1}) {
      if (constant_operand(call, 1 - i, i) == nullptr) continue;
      return call.give(0, call.emit(Kind::Clip, {call.tensor(i)}));
    }
  }
  TensorId result = call.tensor(0);
  for (int i = 1; i < call.inputs(); ++i) result = call.emit(kind, {result, call.tensor(i)});
  call.give(0, result);
}

void sum(const OnnxCall& call, Kind kind) {
  const TensorId result = call.emit(Kind::Add, all_tensors(call));
  call.give(0, kind == Kind::Mean ? call.emit(Kind::Scale, {result}) : result);
}

std::optional<Scalar> truth(std::optional<bool> value, bool negated = false) {
  if (!value) return std::nullopt;
  return Scalar(*value != negated ? 1 : 0);
}

std::optional<Scalar> combine_logic(std::string_view op, Operands of) {
  const std::optional<bool> a = equal(*of[0], Scalar(0));  // whether it is false
  if (op == "Not") return truth(a);
  const std::optional<bool> b = equal(*of[1], Scalar(0));
  if (op == "Equal") return truth(equal(*of[0], *of[1]));
  if (op == "Less") return truth(less(*of[0], *of[1]));
  if (op == "Greater") return truth(less(*of[1], *of[0]));
  if (op == "GreaterOrEqual") return truth(less(*of[0], *of[1]), true);
  if (op == "LessOrEqual") return truth(less(*of[1], *of[0]), true);
  if (!a || !b) return std::nullopt;
  if (op == "And") return Scalar(!*a && !*b ? 1 : 0);
  if (op == "Or") return Scalar(!*a || !*b ? 1 : 0);
  return Scalar(*a != *b ? 1 : 0);
}

void compare(const OnnxCall& call, Kind kind) {
  const std::string_view op = call.node().op_type;
  const bool unary = op == "Not" || op == "IsNaN" || op == "IsInf";
  const auto combine = [=](Operands of) { return combine_logic(op, of); };
  const bool computes = op != "IsNaN" && op != "IsInf";
  if (computes && fold_elementwise(call, unary ? 1 : 2, DType::Bool, combine)) return;
  if (unary) return call.give(0, call.emit(kind, {call.tensor(0)}));
  for (const int i : {0, 1}) {
    if (constant_operand(call, 1 - i, i) == nullptr) continue;
    return call.give(0, call.emit(kind, {call.tensor(i)}));
  }
  call.give(0, call.emit(kind, {call.tensor(0), call.tensor(1)}));
}

std::optional<Scalar> choose(Operands of) {
  const std::optional<bool> no = equal(*of[0], Scalar(0));
  if (!no) return std::nullopt;
  return *no ? *of[2] : *of[1];
}

void where(const OnnxCall& call, Kind kind) {
  const DType type = call.in(1).type;
  if (fold_elementwise(call, 3, type, choose)) return;
  std::vector<TensorId> inputs{call.tensor(0)};
  const Shape result =
      graph::broadcast(graph::broadcast(call.shape(0), call.shape(1)), call.shape(2));
  for (const int i : {1, 2}) {
    const bool constant = call.uniform(i) != nullptr && call.shape(i).rank() <= result.rank() &&
                          elements(call.shape(i)) == Dim(1);
    if (!constant) inputs.push_back(call.tensor(i));
  }
  if (inputs.size() == 1) inputs.push_back(call.tensor(1));
  const TensorId id = call.emit(kind, inputs);
  call.all().graph.tensor(id).type = type;
  call.give(0, id);
}

constexpr std::array kRules{
    OnnxRule{"Add", binary, Kind::Add},
    OnnxRule{"Sub", binary, Kind::Sub},
    OnnxRule{"Mul", binary, Kind::Mul},
    OnnxRule{"Div", binary, Kind::Div},
    OnnxRule{"Pow", pow},
    OnnxRule{"Mod", modulo_rule},
    OnnxRule{"BitShift", binary_opaque},
    OnnxRule{"BitwiseAnd", binary_opaque},
    OnnxRule{"BitwiseOr", binary_opaque},
    OnnxRule{"BitwiseXor", binary_opaque},
    OnnxRule{"Max", extreme_rule, Kind::Maximum},
    OnnxRule{"Min", extreme_rule, Kind::Minimum},
    OnnxRule{"Sum", sum, Kind::Add},
    OnnxRule{"Mean", sum, Kind::Mean},
    OnnxRule{"Equal", compare, Kind::Compare},
    OnnxRule{"Less", compare, Kind::Compare},
    OnnxRule{"LessOrEqual", compare, Kind::Compare},
    OnnxRule{"Greater", compare, Kind::Compare},
    OnnxRule{"GreaterOrEqual", compare, Kind::Compare},
    OnnxRule{"And", compare, Kind::Compare},
    OnnxRule{"Or", compare, Kind::Compare},
    OnnxRule{"Xor", compare, Kind::Compare},
    OnnxRule{"Not", compare, Kind::Compare},
    OnnxRule{"IsNaN", compare, Kind::Compare},
    OnnxRule{"IsInf", compare, Kind::Compare},
    OnnxRule{"Where", where, Kind::Where},
};

}  // namespace

std::span<const OnnxRule> onnx_arithmetic_rules() { return kRules; }

}  // namespace foretrain::importer

// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of one tensor.
#include <array>
#include <cmath>

#include "foretrain/importer/onnx/fold.h"
#include "foretrain/importer/onnx/rules.h"
#include "foretrain/importer/onnx/tensor.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::TensorId;
using Operands = std::span<const Scalar* const>;

constexpr std::string_view kMicrosoft = "com.microsoft";

std::optional<Scalar> real_function(const Scalar& of, double (*function)(double)) {
  const std::optional<double> number = of.number();
  if (!number) return std::nullopt;
  return Scalar::from_real(function(*number));
}

std::optional<Scalar> compute(std::string_view op, const Scalar& of) {
  if (op == "Neg") return multiply(of, Scalar(-1));
  if (op == "Abs") {
    const std::optional<bool> negative = less(of, Scalar(0));
    if (!negative) return std::nullopt;
    return *negative ? multiply(of, Scalar(-1)) : of;
  }
  if (op == "Floor") return round_scalar(of, Rounding::Down);
  if (op == "Ceil") return round_scalar(of, Rounding::Up);
  if (op == "Round") return round_scalar(of, Rounding::Nearest);
  if (op == "Reciprocal") return divide(Scalar::from_real(1), of, false);
  if (op == "Sqrt") return real_function(of, std::sqrt);
  if (op == "Exp") return real_function(of, std::exp);
  if (op == "Log") return real_function(of, std::log);
  return std::nullopt;
}

bool fold_unary(const OnnxCall& call) {
  const std::string_view op = call.node().op_type;
  return fold_elementwise(call, 1, call.in(0).type,
                          [=](Operands of) { return compute(op, *of[0]); });
}

void unary(const OnnxCall& call, Kind kind) {
  if (fold_unary(call)) return;
  call.give(0, call.emit(kind, {call.tensor(0)}));
}

// An element-wise operator that has no kind of its own.
void unary_opaque(const OnnxCall& call, Kind /*kind*/) {
  if (!fold_unary(call)) give_opaque_like(call);
}

void prelu(const OnnxCall& call, Kind /*kind*/) {
  const TensorId x = call.tensor(0);
  call.give(0, call.emit_opaque({x, call.weight(1)}, {call.shape(0)}, call.in(0).type).front());
}

// The activation that follows the addition of a bias, in one kernel or two.
void biased(const OnnxCall& call, Kind kind) {
  TensorId x = call.tensor(0);
  if (call.has(1)) x = call.emit(Kind::Add, {x, call.weight(1)});
  call.give(0, call.emit(kind, {x}));
}

// A bound of clip: an attribute until operator set 10, an input since.
std::optional<double> bound(const OnnxCall& call, const char* name, int input) {
  if (const OnnxAttribute* attribute = call.attribute(name)) return attribute->real;
  if (!call.has(input)) return std::nullopt;
  const std::vector<double> values = call.reals(input);
  return values.empty() ? std::nullopt : std::optional<double>(values.front());
}

std::optional<Scalar> clipped(const Scalar& of, std::optional<double> low,
                              std::optional<double> high) {
  std::optional<Scalar> result = of;
  for (const auto& [end, is_low] : {std::pair{low, true}, std::pair{high, false}}) {
    const std::optional<Scalar> limit =
        end ? round_scalar(Scalar::from_real(*end), Rounding::Nearest) : std::nullopt;
    if (!limit || !result) continue;
    const std::optional<bool> below = less(*result, *limit);
    if (!below) return std::nullopt;
    if (*below == is_low) result = limit;
  }
  return result;
}

void clip(const OnnxCall& call, Kind /*kind*/) {
  const std::optional<double> low = bound(call, "min", 1);
  const std::optional<double> high = bound(call, "max", 2);
  const auto combine = [=](Operands of) { return clipped(*of[0], low, high); };
  if (!is_floating(call.in(0).type) && fold_elementwise(call, 1, call.in(0).type, combine)) return;
  Kind kind = Kind::Clip;
  if (low == 0.0 && high == 6.0) kind = Kind::Relu6;
  if (low == 0.0 && !high) kind = Kind::Relu;
  call.give(0, call.emit(kind, {call.tensor(0)}));
}

void cast_to(const OnnxCall& call, DType type) {
  const auto convert = [=](Operands of) -> std::optional<Scalar> {
    if (is_floating(type)) return *of[0];
    if (type != DType::Bool) return round_scalar(*of[0], Rounding::Zero);
    const std::optional<bool> zero = equal(*of[0], Scalar(0));
    if (!zero) return std::nullopt;
    return Scalar(*zero ? 0 : 1);
  };
  if (fold_elementwise(call, 1, type, convert)) return;
  if (call.in(0).type == type) return translate_identity(call, Kind::Identity);
  const auto wanted = static_cast<std::int64_t>(type);
  call.give(0, call.emit(Kind::Cast, {call.tensor(0)}, {{Attr::Type, {Dim(wanted)}}}));
}

void cast(const OnnxCall& call, Kind /*kind*/) {
  const std::int64_t to = call.integer("to", 1);
  if (to == static_cast<std::int64_t>(OnnxType::String))
    OnnxCall::fail_unsupported("text is no tensor");
  cast_to(call, type_of_onnx(to));
}

void cast_like(const OnnxCall& call, Kind /*kind*/) { cast_to(call, call.in(1).type); }

void dropout(const OnnxCall& call, Kind /*kind*/) {
  const std::vector<double> ratio = call.has(1) ? call.reals(1) : std::vector<double>{};
  const double share = ratio.empty() ? call.real("ratio", 0.5) : ratio.front();
  if (share == 0) return translate_identity(call, Kind::Identity);
  const std::vector<TensorId> outputs = call.emit_all(Kind::Dropout, {call.tensor(0)});
  call.give(0, outputs[0]);
  call.give(1, outputs[1]);
}

// From floats to 8 bits and back: the shape stays.
void quantize(const OnnxCall& call, Kind /*kind*/) {
  const bool back = call.node().op_type == "DequantizeLinear";
  give_opaque(call, call.shape(0), back ? DType::F32 : DType::I8);
}

constexpr std::array kRules{
    OnnxRule{"Relu", unary, Kind::Relu},
    OnnxRule{"LeakyRelu", unary, Kind::LeakyRelu},
    OnnxRule{"ThresholdedRelu", unary, Kind::LeakyRelu},
    OnnxRule{"Elu", unary, Kind::Elu},
    OnnxRule{"Selu", unary, Kind::Elu},
    OnnxRule{"Celu", unary, Kind::Elu},
    OnnxRule{"Gelu", unary, Kind::Gelu},
    OnnxRule{"Mish", unary, Kind::Mish},
    OnnxRule{"Swish", unary, Kind::Silu},
    OnnxRule{"Sigmoid", unary, Kind::Sigmoid},
    OnnxRule{"HardSigmoid", unary, Kind::HardSigmoid},
    OnnxRule{"HardSwish", unary, Kind::HardSwish},
    OnnxRule{"Tanh", unary, Kind::Tanh},
    OnnxRule{"Softplus", unary, Kind::Softplus},
    OnnxRule{"Exp", unary, Kind::Exp},
    OnnxRule{"Log", unary, Kind::Log},
    OnnxRule{"Sqrt", unary, Kind::Sqrt},
    OnnxRule{"Reciprocal", unary, Kind::Rsqrt},
    OnnxRule{"Neg", unary, Kind::Neg},
    OnnxRule{"Abs", unary, Kind::Abs},
    OnnxRule{"Erf", unary, Kind::Erf},
    OnnxRule{"Sin", unary, Kind::Sin},
    OnnxRule{"Cos", unary, Kind::Cos},
    OnnxRule{"Floor", unary_opaque},
    OnnxRule{"Ceil", unary_opaque},
    OnnxRule{"Round", unary_opaque},
    OnnxRule{"Sign", unary_opaque},
    OnnxRule{"Softsign", unary_opaque},
    OnnxRule{"Shrink", unary_opaque},
    OnnxRule{"Tan", unary_opaque},
    OnnxRule{"Asin", unary_opaque},
    OnnxRule{"Acos", unary_opaque},
    OnnxRule{"Atan", unary_opaque},
    OnnxRule{"Sinh", unary_opaque},
    OnnxRule{"Cosh", unary_opaque},
    OnnxRule{"Asinh", unary_opaque},
    OnnxRule{"Acosh", unary_opaque},
    OnnxRule{"Atanh", unary_opaque},
    OnnxRule{"BitwiseNot", unary_opaque},
    OnnxRule{"RandomNormalLike", unary_opaque},
    OnnxRule{"RandomUniformLike", unary_opaque},
    OnnxRule{"Bernoulli", unary_opaque},
    OnnxRule{"EyeLike", unary_opaque},
    OnnxRule{"PRelu", prelu},
    OnnxRule{"Clip", clip},
    OnnxRule{"Cast", cast},
    OnnxRule{"CastLike", cast_like},
    OnnxRule{"Dropout", dropout},
    OnnxRule{"QuantizeLinear", quantize},
    OnnxRule{"DequantizeLinear", quantize},
    OnnxRule{"Gelu", unary, Kind::Gelu, kMicrosoft},
    OnnxRule{"QuickGelu", unary, Kind::Silu, kMicrosoft},
    OnnxRule{"BiasGelu", biased, Kind::Gelu, kMicrosoft},
    OnnxRule{"FastGelu", biased, Kind::Gelu, kMicrosoft},
    OnnxRule{"QuantizeLinear", quantize, Kind::Opaque, kMicrosoft},
    OnnxRule{"DequantizeLinear", quantize, Kind::Opaque, kMicrosoft},
};

}  // namespace

std::span<const OnnxRule> onnx_pointwise_rules() { return kRules; }

}  // namespace foretrain::importer

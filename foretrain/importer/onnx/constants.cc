// SPDX-License-Identifier: Apache-2.0
// Operators whose result depends on shapes and constants only.
#include <array>
#include <cmath>
#include <utility>

#include "foretrain/importer/onnx/fold.h"
#include "foretrain/importer/onnx/rules.h"
#include "foretrain/importer/onnx/tensor.h"

namespace foretrain::importer {
namespace {

using graph::Dim;
using graph::Kind;
using graph::Shape;

void give_vector(const OnnxCall& call, DType type, std::vector<Scalar> content) {
  const Shape shape{Dim(static_cast<std::int64_t>(content.size()))};
  call.give_content(0, shape, type, std::move(content));
}

void constant(const OnnxCall& call, Kind /*kind*/) {
  if (const OnnxAttribute* value = call.attribute("value"); value != nullptr && value->tensor) {
    call.give(0, stored_value(call.all(), *value->tensor, true));
    return;
  }
  std::vector<Scalar> content;
  if (const OnnxAttribute* list = call.attribute("value_ints")) {
    for (const std::int64_t number : list->integers) content.emplace_back(number);
    return give_vector(call, DType::I64, std::move(content));
  }
  if (const OnnxAttribute* list = call.attribute("value_floats")) {
    for (const double number : list->reals) content.push_back(Scalar::from_real(number));
    return give_vector(call, DType::F32, std::move(content));
  }
  if (call.attribute("value_int") != nullptr) {
    return call.give_content(0, {}, DType::I64, {Scalar(call.integer("value_int", 0))});
  }
  if (call.attribute("value_float") != nullptr) {
    return call.give_content(0, {}, DType::F32, {Scalar::from_real(call.real("value_float", 0))});
  }
  OnnxCall::fail_unsupported("a constant that is neither a number nor a dense tensor");
}

void shape(const OnnxCall& call, Kind /*kind*/) {
  const Shape& of = call.shape(0);
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + of.rank() : at, 0, of.rank());
  };
  const std::int64_t end = clamp(call.integer("end", of.rank()));
  std::vector<Scalar> content;
  for (std::int64_t axis = clamp(call.integer("start", 0)); axis < end; ++axis) {
    content.emplace_back(of[static_cast<int>(axis)]);
  }
  give_vector(call, DType::I64, std::move(content));
}

void size(const OnnxCall& call, Kind /*kind*/) {
  call.give_content(0, {}, DType::I64, {Scalar(elements(call.shape(0)))});
}

void constant_of_shape(const OnnxCall& call, Kind /*kind*/) {
  Shape result;
  for (const Dim& dim : call.sizes(0)) {
    if (dim.factor < 0) OnnxCall::fail("a dimension is negative");
    result.push_back(dim);
  }
  Scalar value = Scalar::from_real(0);
  DType type = DType::F32;
  if (const OnnxAttribute* given = call.attribute("value"); given != nullptr && given->tensor) {
    const OnnxTensor& tensor = *given->tensor;
    type = type_of_onnx(tensor.type);
    if (!tensor.integers.empty()) value = Scalar(tensor.integers.front());
    if (!tensor.reals.empty()) value = Scalar::from_real(tensor.reals.front());
  }
  call.give_uniform(0, result, type, value);
}

const Scalar& single(const OnnxCall& call, int i) {
  const Scalar* value = call.uniform(i);
  if (value == nullptr) {
    OnnxCall::fail_unsupported(
        "input " + std::to_string(i) +
        " is not known before the model runs; shapes must not depend on data");
  }
  return *value;
}

void range(const OnnxCall& call, Kind /*kind*/) {
  const Scalar& start = single(call, 0);
  const Scalar& delta = single(call, 2);
  const DType type = call.in(0).type;
  const std::optional<Scalar> span = subtract(single(call, 1), start);
  std::optional<Scalar> steps = span ? divide(*span, delta, false) : std::nullopt;
  if (steps) steps = round_scalar(*steps, Rounding::Up);
  const std::optional<Dim> count = steps ? steps->dim() : std::nullopt;
  if (!count) OnnxCall::fail_unsupported("its length is a sum of symbols; give the symbols values");
  const Shape result{Dim(*count).factor < 0 ? Dim(0) : *count};
  if (const auto few = small_count(result)) {
    call.charge(*few * (1 + start.terms().size() * (1 + delta.terms().size())));
    std::vector<Scalar> content;
    for (std::size_t i = 0; i < *few; ++i) {
      const auto offset = multiply(delta, Scalar(static_cast<std::int64_t>(i)));
      const auto value = offset ? add(start, *offset) : std::nullopt;
      if (!value) OnnxCall::fail("its values do not fit in 64 bits");
      content.push_back(*value);
    }
    return call.give_content(0, result, type, std::move(content));
  }
  call.give(0, add_buffer(call.all(), call.node().outputs.front(), result, type));
}

// The places of what is not zero: as many as there are values that are not.
void non_zero(const OnnxCall& call, Kind /*kind*/) {
  const OnnxValue& value = call.in(0);
  const Shape& of = value.shape;
  const Scalar* all = call.uniform(0);
  if (all != nullptr && all->number() && *all->number() != 0 && !small_count(of)) {
    const Shape result{Dim(of.rank()), elements(of)};
    return call.give(0, add_buffer(call.all(), call.node().outputs.front(), result, DType::I64));
  }
  if (value.known != OnnxValue::Known::All) return translate_unknown(call);
  call.charge(value.content.size());
  std::vector<std::vector<Scalar>> places(static_cast<std::size_t>(of.rank()));
  for (std::size_t i = 0; i < value.content.size(); ++i) {
    const std::optional<bool> zero = equal(value.content[i], Scalar(0));
    if (!zero) return translate_unknown(call);
    std::size_t rest = i;
    for (int axis = of.rank() - 1; axis >= 0 && !*zero; --axis) {
      const auto extent = static_cast<std::size_t>(of[axis].factor);
      places[static_cast<std::size_t>(axis)].emplace_back(static_cast<std::int64_t>(rest % extent));
      rest /= extent;
    }
  }
  std::vector<Scalar> content;
  for (const std::vector<Scalar>& axis : places)
    content.insert(content.end(), axis.begin(), axis.end());
  const std::size_t count = places.empty() ? 0 : places[0].size();
  call.give_content(0, {Dim(of.rank()), Dim(static_cast<std::int64_t>(count))}, DType::I64,
                    std::move(content));
}

void random(const OnnxCall& call, Kind /*kind*/) {
  const OnnxAttribute* given = call.attribute("shape");
  if (given == nullptr) return give_opaque_like(call);
  Shape result;
  for (const std::int64_t dim : given->integers) result.push_back(Dim(dim));
  give_opaque(call, result, DType::F32);
}

constexpr std::array kRules{
    OnnxRule{"Constant", constant},   OnnxRule{"Shape", shape},
    OnnxRule{"Size", size},           OnnxRule{"ConstantOfShape", constant_of_shape},
    OnnxRule{"Range", range},         OnnxRule{"NonZero", non_zero},
    OnnxRule{"RandomNormal", random}, OnnxRule{"RandomUniform", random},
};

}  // namespace

std::span<const OnnxRule> onnx_constant_rules() { return kRules; }

}  // namespace foretrain::importer

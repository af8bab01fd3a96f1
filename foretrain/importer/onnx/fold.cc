// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/fold.h"

#include <algorithm>
#include <utility>

#include "foretrain/graph/rules.h"

namespace foretrain::importer {

using graph::Dim;
using graph::Shape;

std::optional<std::size_t> small_count(const Shape& shape) {
  const Dim count = elements(shape);
  if (!is_number(count) || count.factor > static_cast<std::int64_t>(kMostOnnxValues)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(count.factor);
}

std::vector<std::size_t> broadcast_sources(const Shape& input, const Shape& shape) {
  std::vector<std::size_t> sources{0};
  const int offset = shape.rank() - input.rank();
  std::size_t stride = 1;
  // From the last axis to the first: each repeats what is there so far, shifted by its stride.
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const auto size = static_cast<std::size_t>(shape[axis].factor);
    const bool moves = axis >= offset && input[axis - offset].factor != 1;
    std::vector<std::size_t> next;
    next.reserve(sources.size() * size);
    for (std::size_t i = 0; i < size; ++i) {
      for (const std::size_t source : sources) next.push_back(source + (moves ? i * stride : 0));
    }
    if (axis >= offset) stride *= static_cast<std::size_t>(input[axis - offset].factor);
    sources = std::move(next);
  }
  return sources;
}

std::vector<Scalar> picked(const std::vector<Scalar>& content,
                           const std::vector<std::size_t>& from) {
  std::vector<Scalar> result;
  result.reserve(from.size());
  for (const std::size_t i : from) result.push_back(content[i]);
  return result;
}

namespace {

// What a product of sums multiplies out.
std::size_t pairs_of_terms(const std::vector<const Scalar*>& values) {
  std::size_t pairs = 1;
  for (const Scalar* value : values) pairs *= std::max<std::size_t>(1, value->terms().size());
  return pairs;
}

// All inputs have one value each.
bool fold_uniform(const OnnxCall& call, int operands, const Shape& shape, DType type,
                  const Combine& combine) {
  std::vector<const Scalar*> values;
  for (int i = 0; i < operands; ++i) {
    if (call.uniform(i) == nullptr) return false;
    values.push_back(call.uniform(i));
  }
  call.charge(pairs_of_terms(values));
  std::optional<Scalar> value = combine(values);
  if (value) call.give_uniform(0, shape, type, *std::move(value));
  return value.has_value();
}

}  // namespace

bool fold_elementwise(const OnnxCall& call, int operands, DType type, const Combine& combine) {
  for (int i = 0; i < operands; ++i) {
    if (!call.has(i) || call.in(i).known == OnnxValue::Known::Nothing) return false;
  }
  Shape shape;
  for (int i = 0; i < operands; ++i) shape = graph::broadcast(shape, call.shape(i));
  if (fold_uniform(call, operands, shape, type, combine)) return true;
  const std::optional<std::size_t> count = small_count(shape);
  if (!count) return false;
  std::vector<std::vector<std::size_t>> sources;
  std::vector<const std::vector<Scalar>*> contents;
  for (int i = 0; i < operands; ++i) {
    if (!call.knows(i)) return false;
    sources.push_back(broadcast_sources(call.shape(i), shape));
    contents.push_back(&call.in(i).content);
  }
  std::vector<Scalar> content;
  content.reserve(*count);
  std::vector<const Scalar*> values(sources.size());
  for (std::size_t e = 0; e < *count; ++e) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      values[i] = &(*contents[i])[sources[i][e]];
    }
    call.charge(pairs_of_terms(values));
    std::optional<Scalar> value = combine(values);
    if (!value) return false;
    content.push_back(*std::move(value));
  }
  call.give_content(0, shape, type, std::move(content));
  return true;
}

}  // namespace foretrain::importer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "foretrain/importer/onnx/call.h"

namespace foretrain::importer {

// Computing with values that are known before the model runs, so that shapes may depend on them.

// One value of an element-wise operator; nullopt where it cannot be told.
using Combine = std::function<std::optional<Scalar>(std::span<const Scalar* const>)>;

// Gives output 0 the values of an element-wise operator of the first `operands` inputs, if all
// of them are known and few; else returns false and gives nothing.
bool fold_elementwise(const OnnxCall& call, int operands, DType type, const Combine& combine);

// Where each element of the result comes from in `input`, row by row, when `input` is broadcast
// to `shape`; both of numbers.
std::vector<std::size_t> broadcast_sources(const graph::Shape& input, const graph::Shape& shape);

// How many elements, where that is a number of at most kMostOnnxValues.
std::optional<std::size_t> small_count(const graph::Shape& shape);

// Picks elements of known content by their place.
std::vector<Scalar> picked(const std::vector<Scalar>& content,
                           const std::vector<std::size_t>& from);

}  // namespace foretrain::importer

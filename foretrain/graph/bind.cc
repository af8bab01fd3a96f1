// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/bind.h"

#include <algorithm>
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::graph {
namespace {

constexpr double kMostElements = 281474976710656.0;  // 2^48

using Values = std::array<std::int64_t, kMaxSymbols>;

Values symbol_values(const Graph& graph, const Binding& binding) {
  Values values{};
  values.fill(1);
  for (std::size_t i = 0; i < graph.symbols.size(); ++i) {
    const auto found = std::find_if(binding.begin(), binding.end(),
                                    [&](const auto& b) { return b.first == graph.symbols[i]; });
    if (found == binding.end() || found->second < 1) {
      throw Error(ErrorKind::BadInput,
                  "model '" + printable(graph.name) + "': its size '" + graph.symbols[i] +
                      "' is open and needs a value of at least 1; an ONNX file takes it behind its "
                      "name, as model.onnx:" +
                      graph.symbols[i] + "=NUMBER");
    }
    values[i] = found->second;
  }
  return values;
}

double evaluate(const Dim& dim, const Values& values) {
  auto size = static_cast<double>(dim.factor);
  if (dim.power == decltype(dim.power){}) return size;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (int p = 0; p < dim.power[i]; ++p) size *= static_cast<double>(values[i]);
  }
  return size;
}

}  // namespace

Bound bind(const Graph& graph, const Binding& binding) {
  const Values values = symbol_values(graph, binding);
  Bound bound;
  bound.graph = &graph;
  bound.extents.reserve(graph.tensors.size());
  bound.elements.reserve(graph.tensors.size());
  for (const Tensor& tensor : graph.tensors) {
    const Shape& shape = tensor.shape;
    Extent& extent = bound.extents.emplace_back();
    extent.rank = shape.rank();
    double count = 1;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const double size = evaluate(shape[axis], values);
      count *= size;
      if (!(count <= kMostElements) || !(size <= kMostElements)) {
        throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) +
                                             "': a tensor has more than 2^48 elements; use a "
                                             "smaller batch or smaller sizes");
      }
      extent.size[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(size);
    }
    bound.elements.push_back(count);
  }
  return bound;
}

}  // namespace foretrain::graph

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/dim.h"
#include "foretrain/importer/onnx/model.h"

namespace foretrain::importer {

// What the names of dimensions in a file stand for.
struct OnnxSymbols {
  std::vector<std::string> names{"batch"};             // Graph::symbols
  std::unordered_map<std::string, graph::Dim> dims{};  // by the name in the file
  bool has_batch = false;                              // some input has a dimension `batch`
  std::vector<std::string> notes{};
};

// Gives every named or unknown dimension of the inputs a symbol or, where `values` has one, a
// number. The dimension called batch (batch_size, N, ...), else the first input's leading one
// if it is open, becomes `batch`. Throws Error: Unsupported for more than four symbols, BadInput
// for a value whose symbol is not there.
OnnxSymbols find_symbols(const std::vector<const OnnxValueInfo*>& inputs,
                         const graph::Binding& values);

// The shape of an input; `axis` of it that has no name counts as one of its own.
graph::Shape input_shape(const OnnxSymbols& symbols, const OnnxValueInfo& input);

// The shape that the file states for a value; nullopt where it is not known in full.
std::optional<graph::Shape> stated_shape(const OnnxSymbols& symbols, const OnnxValueInfo& info);

}  // namespace foretrain::importer

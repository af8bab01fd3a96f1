// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/graph.h"

namespace foretrain::importer {

// ONNX files. docs/onnx.md says which operators are understood and what is assumed.

// Whether content begins as an ONNX file does.
bool is_onnx(std::string_view content);

// Reads a model. Weights are not loaded: a file of many gigabytes costs megabytes. Other files in
// which it keeps them need not be there; where they lie beside it, constants and samples are
// looked at. `values` gives sizes to dimensions that the file
// leaves open, by their names there; the others become symbols. `external`: a folder outside of the
// model's own in which these files may lie, too. Throws Error naming file and node:
//   Io           the file cannot be read
//   BadInput     it is not a well-formed model, or a value names no dimension of it
//   Unsupported  an operator that is not known and whose shape the file does not state, or a
//                shape that depends on data
graph::Graph read_onnx(const std::filesystem::path& file, const graph::Binding& values = {},
                       const std::filesystem::path& external = {});

// The same for content that is in memory; `where` names it. No other file is looked at.
graph::Graph read_onnx(std::string_view content, const std::string& where,
                       const graph::Binding& values = {});

}  // namespace foretrain::importer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "foretrain/graph/graph.h"

namespace foretrain::importer {

// Reads a model, choosing the format by the file's content, and returns it with every shape
// known up to the symbols of its inputs. Throws Error naming file and node:
//   Io           the file cannot be read
//   BadInput     it is not a well-formed model
//   Unsupported  a format or operator that this program does not read
graph::Graph import_model(const std::filesystem::path& file);

// The same for content that is in memory already, such as an upload; `where` names it.
graph::Graph read_model(std::string_view content, const std::string& where);

// Whether `model` names a file and not a built-in model: it has a path separator or ends in
// the extension of a model file. Looks only at the text, so that files that happen to lie in
// the current folder do not change what a name means.
bool looks_like_file(std::string_view model);

}  // namespace foretrain::importer

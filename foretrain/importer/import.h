// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "foretrain/graph/graph.h"

namespace foretrain::importer {

// Reads a model, choosing the format by the file's content, and returns it with every shape
// known up to the symbols of its inputs. Throws Error naming file and node:
//   Io           the file cannot be read
//   BadInput     it is not a well-formed model
//   Unsupported  a format or operator that this program does not read
// `parameters` gives values to sizes that an ONNX file leaves open: "height=224,width=224"; no
// other format that is read here takes any. `external` names a folder in which an ONNX file's
// external data may lie besides the model's own.
graph::Graph import_model(const std::filesystem::path& file, std::string_view parameters = "",
                          const std::filesystem::path& external = {});

// The same for content that is in memory already, such as an upload; `where` names it.
graph::Graph read_model(std::string_view content, const std::string& where);

// The bytes of a file. Throws Error: Io, or BadInput for a folder and for more than 2 GiB.
std::string read_content(const std::filesystem::path& file);

// The same of a stream, which `where` names; as much of it is read as its first bytes deserve.
std::string read_content(std::istream& stream, const std::string& where);

// Whether `model` names a file and not a built-in model: it has a path separator or ends in
// the extension of a model file. Looks only at the text, so that files that happen to lie in
// the current folder do not change what a name means.
bool looks_like_file(std::string_view model);

// A file and the parameters behind it: "config.json:seq=2048". They begin at a colon that an
// extension of a model file ends before.
struct FileModel {
  std::string file;
  std::string parameters;
};
FileModel split_parameters(std::string_view model);

}  // namespace foretrain::importer

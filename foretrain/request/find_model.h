// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "foretrain/graph/graph.h"

namespace foretrain {

// The model of that name, built in or read from a file: ONNX, our own format or a Hugging Face
// config.json, told apart by their content. Throws Error: NotFound with near matches for a name;
// BadInput, Io and Unsupported for a file; BadInput for a file that is not to be read (a server's
// clients name none). `external` names a folder in which an ONNX file's external data may lie
// besides the model's own.
graph::Graph find_model(const std::string& model, bool read_files = true,
                        const std::filesystem::path& external = {});

// The same for a file's content that is in memory; `where` names it in messages.
graph::Graph read_model(const std::string& content, const std::string& where);

// Whether the name stands for a file, whose content may change between two looks.
bool names_model_file(const std::string& model);

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/find_model.h"

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/importer/import.h"
#include "foretrain/zoo/huggingface.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain {
namespace {

// "meta-llama/Meta-Llama-3-8B": an organisation and a model, with no extension of a file.
bool is_hub_name(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash != std::string::npos && slash > 0 &&
         name.find('/', slash + 1) == std::string::npos && !name.starts_with(".") &&
         !importer::looks_like_file(name.substr(slash + 1));
}

// A Hugging Face config.json describes a model of the catalog; other files hold a graph.
graph::Graph read_file(const std::string& model, const std::filesystem::path& external) {
  const auto [file, parameters] = importer::split_parameters(model);
  if (is_hub_name(file) && !std::filesystem::exists(file)) {
    throw Error(ErrorKind::Io, named(file) +
                                   ": there is no such file; for a model of the Hugging Face hub "
                                   "give the path of its config.json");
  }
  if (file.ends_with(".json")) {
    const std::string content = importer::read_content(file);
    if (zoo::looks_like_huggingface(content)) {
      return zoo::build_huggingface(content, parameters, named(file));
    }
    if (parameters.empty()) return importer::read_model(content, named(file));
  }
  return importer::import_model(file, parameters, external);
}

}  // namespace

bool names_model_file(const std::string& model) { return importer::looks_like_file(model); }

graph::Graph read_model(const std::string& content, const std::string& where) {
  if (zoo::looks_like_huggingface(content)) return zoo::build_huggingface(content, "", where);
  return importer::read_model(content, where);
}

graph::Graph find_model(const std::string& model, bool read_files,
                        const std::filesystem::path& external) {
  if (!names_model_file(model)) return zoo::build(model);
  if (!read_files) {
    throw Error(ErrorKind::BadInput,
                "model '" + printable(model) + "': files are not read here; use a built-in model");
  }
  return read_file(model, external);
}

}  // namespace foretrain

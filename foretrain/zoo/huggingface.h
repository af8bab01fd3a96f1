// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::zoo {

// A Hugging Face config.json in the words of the catalog: "llama:layers=32,hidden=4096,...".
struct HuggingFaceModel {
  std::string type;                // its model_type
  std::string model;               // what `build` takes
  std::vector<std::string> notes;  // what was assumed
};

// Whether `text` is a JSON object with a model_type, and no graph of ours. Looks for the words
// only.
bool looks_like_huggingface(std::string_view text);

// Translates the configuration of the family's main head: AutoModelForCausalLM, MaskedLM,
// T5ForConditionalGeneration, ViTForImageClassification. `parameters` ("seq=2048,head=qa") come
// before what the file says; sequences are as long as the model allows, to at most 4096 tokens,
// unless `seq` is given. `where` names the file in errors. Throws Error:
//   BadInput     malformed JSON; a size that is missing, no whole number or absurd
//   Unsupported  an unknown model_type, or a variant that is not built here
HuggingFaceModel model_from_huggingface(std::string_view config, const std::string& parameters,
                                        const std::string& where);

// Builds it; the graph is called as its model_type.
graph::Graph build_huggingface(std::string_view config, const std::string& parameters,
                               const std::string& where);

}  // namespace foretrain::zoo

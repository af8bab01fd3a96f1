// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/huggingface.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/zoo/language/huggingface_translation.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

constexpr std::size_t kLongestText = std::size_t{4} << 20;  // bytes; id2label may be long

// Whether `parameters`, "a=1,b=2", name `key`.
bool names(const std::string& parameters, const std::string& key) {
  const std::string text = "," + parameters;
  return text.find("," + key + "=") != std::string::npos;
}

// What a reader must know of a sequence's length.
std::vector<std::string> length_notes(Translation& translation, bool given) {
  std::vector<std::string> notes;
  if (!translation.longest()) return notes;
  const std::int64_t longest = *translation.longest();
  const std::int64_t usual = std::min(longest, kLongestSequence);
  if (!given) {
    notes.push_back("sequences have " + std::to_string(usual) + " tokens of at most " +
                    std::to_string(longest) + "; write FILE:seq=N for others");
  }
  if (translation.has("sliding_window") && translation.flag("use_sliding_window", true)) {
    const std::int64_t window = translation.size("sliding_window");
    if (window < (given ? longest : usual)) {
      notes.push_back("attention is counted over the whole sequence, not over the " +
                      std::to_string(window) + " tokens of the sliding window");
    }
  }
  return notes;
}

}  // namespace

bool looks_like_huggingface(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"model_type\"") != std::string_view::npos &&
         text.find("\"foretrain-graph\"") == std::string_view::npos;
}

HuggingFaceModel model_from_huggingface(std::string_view config, const std::string& parameters,
                                        const std::string& where) {
  if (config.size() > kLongestText) {
    throw Error(ErrorKind::BadInput, printable(where, 200) + ": is longer than 4 MiB");
  }
  const Json json = parse_json(config, where);
  JsonFields fields(json, where);
  Translation translation(fields);
  HuggingFaceModel result;
  result.type = fields.required_text("model_type");
  result.model = translate(result.type, translation) + ":" + parameters;
  for (const auto& [key, value] : translation.parameters()) {
    if (names(parameters, key)) continue;
    if (result.model.back() != ':') result.model += ',';
    result.model += key + "=" + value;
  }
  result.notes = length_notes(translation, names(parameters, "seq"));
  return result;
}

graph::Graph build_huggingface(std::string_view config, const std::string& parameters,
                               const std::string& where) {
  const HuggingFaceModel model = model_from_huggingface(config, parameters, where);
  try {
    graph::Graph graph = build(model.model);
    graph.name = model.type;
    graph.notes.insert(graph.notes.begin(), model.notes.begin(), model.notes.end());
    return graph;
  } catch (const Error& error) {
    throw Error(error.kind(), printable(where, 200) + ": " + error.what());
  }
}

}  // namespace foretrain::zoo

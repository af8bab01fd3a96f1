// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/embedding_file.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/base64.h"
#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"

namespace foretrain::embedding {

extern const std::span<const EmbeddedFile> kEmbeddingFiles;

namespace {

constexpr std::int64_t kMostWidth = 1024;
constexpr std::int64_t kMostReach = 1000;
constexpr std::int64_t kMostKinds = 1000;

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::int64_t count(JsonFields& fields, const char* key, std::int64_t least, std::int64_t most) {
  const std::int64_t value = fields.integer(key).value_or(-1);
  if (value < least || value > most) {
    bad(fields.where(), std::string("'") + key + "' is missing or out of range");
  }
  return value;
}

std::vector<std::string> names(JsonFields& fields, const char* key) {
  const Json& json = fields.require(key);
  const auto is_text = [](const Json& one) { return one.is_string(); };
  if (!json.is_array() || json.empty() || json.size() > kMostKinds ||
      !std::all_of(json.begin(), json.end(), is_text)) {
    bad(fields.where(), std::string("'") + key + "' is no list of names");
  }
  return json.get<std::vector<std::string>>();
}

learn::Matrix read_matrix(const Json& json, const std::string& where,
                          const learn::ParameterSize& size) {
  const std::string here = where + ", parameter '" + size.name + "'";
  JsonFields fields(json, here);
  learn::Matrix matrix;
  matrix.rows = size.rows;
  matrix.columns = size.columns;
  const bool same = fields.required_text("name") == size.name &&
                    fields.integer("rows") == static_cast<std::int64_t>(size.rows) &&
                    fields.integer("columns") == static_cast<std::int64_t>(size.columns);
  try {
    matrix.values = floats_from_base64(fields.required_text("data"));
  } catch (const Error& error) {
    bad(here, error.what());
  }
  fields.finish();
  const bool finite = std::all_of(matrix.values.begin(), matrix.values.end(),
                                  [](float value) { return std::isfinite(value); });
  if (!same || !finite || matrix.values.size() != size.rows * size.columns) {
    bad(here, "is missing, of another size or not finite");
  }
  return matrix;
}

void check_positive(const std::vector<float>& values, const std::string& where) {
  if (!std::all_of(values.begin(), values.end(), [](float value) { return value > 0; })) {
    bad(where, "a deviation or spread that is not positive");
  }
}

std::uint32_t check_sum(const Json& json, JsonFields& fields) {
  const std::optional<std::int64_t> given = fields.integer("checksum");
  Json summed = json;
  summed.erase("checksum");
  const std::uint32_t sum = learn::checksum(json_text(summed));
  if (given != static_cast<std::int64_t>(sum)) {
    bad(fields.where(), "its checksum is missing or wrong; the file is damaged, write it anew");
  }
  return sum;
}

void read_parameters(const Json& json, const std::string& where, Embedding& made) {
  std::vector<learn::ParameterSize> sizes = learn::parameter_sizes(made.network.shape);
  const std::size_t width = 2 * made.network.shape.width;
  sizes.push_back({"embedding.centre", 1, width, 0});
  sizes.push_back({"embedding.spread", 1, width, 0});
  if (!json.is_array() || json.size() != sizes.size()) {
    bad(where, "other parameters than its sizes ask for");
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    learn::Matrix matrix = read_matrix(json[i], where, sizes[i]);
    if (sizes[i].name == "embedding.centre") {
      made.centre = std::move(matrix.values);
    } else if (sizes[i].name == "embedding.spread") {
      made.spread = std::move(matrix.values);
    } else {
      made.network.parameters.push_back({sizes[i].name, std::move(matrix)});
    }
  }
  check_positive(made.spread, where);
  for (const learn::NamedMatrix& one : made.network.parameters) {
    if (one.name == "features.deviation") check_positive(one.matrix.values, where);
  }
}

}  // namespace

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> kNames{
      "gemm_flops",  "vector_flops",   "output_elements", "parameters",
      "weight_rows", "weight_columns", "kernel_height",   "kernel_width",
      "stride",      "groups",         "output_axis_1",   "output_last_axis"};
  return kNames;
}

Embedding read_embedding(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  JsonFields fields(json, where);
  if (fields.text("format") != "foretrain-embedding" || fields.integer("version") != 1) {
    bad(where, "is no embedding of version 1 (foretrain-embedding)");
  }
  Embedding made;
  made.checksum = check_sum(json, fields);
  made.dataset = fields.required_text("dataset");
  made.command = fields.required_text("command");
  made.kinds = names(fields, "kinds");
  if (made.kinds.front() != "input" || made.kinds.back() != "opaque") {
    bad(where, "'kinds' begin with 'input' and end with 'opaque'");
  }
  if (names(fields, "features") != feature_names()) {
    bad(where, "was trained by another version of this program, with other features of a node");
  }
  made.reach = static_cast<std::int32_t>(count(fields, "reach", 1, kMostReach));
  made.most_virtual = static_cast<std::int32_t>(count(fields, "most_virtual", 1, kMostReach));
  learn::GatedGraphShape& shape = made.network.shape;
  shape.kinds = made.kinds.size();
  shape.features = feature_names().size();
  shape.width = static_cast<std::size_t>(count(fields, "width", 1, kMostWidth));
  shape.message = static_cast<std::size_t>(count(fields, "message", 1, kMostWidth));
  read_parameters(fields.require("parameters"), where, made);
  fields.finish();
  return made;
}

Embedding shipped_embedding() {
  const auto found =
      std::find_if(kEmbeddingFiles.begin(), kEmbeddingFiles.end(),
                   [](const EmbeddedFile& file) { return file.name == "embeddings/digits.json"; });
  if (found == kEmbeddingFiles.end()) {
    throw Error(ErrorKind::NotFound, "no embedding is built in; name a file with --embedding");
  }
  return read_embedding(found->text, "data/embeddings/digits.json");
}

}  // namespace foretrain::embedding

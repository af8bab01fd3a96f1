// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/ftg/ftg_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/optimizer.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;

constexpr std::size_t kLongestText = std::size_t{512} << 20;
constexpr std::size_t kLongestName = 1000;
constexpr std::size_t kLongestLabel = 100'000;  // a fused node names all of its parts
constexpr std::size_t kMostNotes = 10'000;
constexpr std::size_t kMostValues = 64;
constexpr std::size_t kMostJson = 40'000'000;  // values of all of the text: about 2 GB
constexpr std::size_t kMostParts = 65'536;     // of a split or a fused node
constexpr std::int64_t kLargest = std::int64_t{1} << 48;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, printable(where, 200) + ": " + what);
}

// A value of two bytes takes 16 and more once it is read, so they are counted before: every one but
// the first of a list follows a comma, a list's first its bracket.
void check_values(std::string_view text, const std::string& where) {
  const auto separates = [](char c) { return c == ',' || c == '[' || c == '{'; };
  const auto values = std::count_if(text.begin(), text.end(), separates);
  if (std::cmp_greater(values, kMostJson)) fail(where, "has more than 40,000,000 values");
}

const Json::array_t& array(const Json& json, std::size_t most, const std::string& where) {
  if (!json.is_array()) fail(where, std::string("expected a list, not ") + json.type_name());
  if (json.size() > most) {
    fail(where, "has " + std::to_string(json.size()) + " entries; at most " + std::to_string(most) +
                    " are allowed");
  }
  return json.get_ref<const Json::array_t&>();
}

const std::string& bounded(const std::string& text, std::size_t longest, const std::string& where) {
  if (text.size() > longest) {
    fail(where,
         "'" + printable(text, 20) + "' is longer than " + std::to_string(longest) + " bytes");
  }
  return text;
}

std::string text_of(JsonFields& fields, const char* key, std::size_t longest = kLongestName) {
  return bounded(fields.text(key).value_or(""), longest, fields.where());
}

// An enumerator by its name under `key`; `names` lists them for the error message.
template <typename Enum, typename Find>
Enum enumerator(JsonFields& fields, const char* key, Enum otherwise, const Find& find,
                const char* names) {
  const std::optional<std::string> name = fields.text(key);
  if (!name) return otherwise;
  const std::optional<Enum> found = find(*name);
  if (!found) {
    fail(fields.where(),
         "the " + std::string(key) + " '" + printable(*name) + "' is not one of " + names);
  }
  return *found;
}

std::optional<DType> type_named(std::string_view name) {
  const auto found = std::find(kDTypeNames.begin(), kDTypeNames.end(), name);
  if (found == kDTypeNames.end()) return std::nullopt;
  return static_cast<DType>(found - kDTypeNames.begin());
}

// A number or a product such as "2*batch*seq"; `least` bounds it from below.
Dim dim_of(const Json& json, std::int64_t least, const std::vector<std::string>& symbols,
           const std::string& where) {
  Dim dim;
  if (json.is_boolean()) {
    dim = Dim(json.get<bool>() ? 1 : 0);
  } else if (json.is_number_unsigned()) {
    dim = Dim(static_cast<std::int64_t>(
        std::min<std::uint64_t>(json.get<std::uint64_t>(), kLargest + 1)));
  } else if (json.is_number_integer()) {
    dim = Dim(json.get<std::int64_t>());
  } else if (json.is_string()) {
    try {
      dim = graph::parse_dim(bounded(json.get_ref<const std::string&>(), kLongestName, where),
                             symbols);
    } catch (const Error& error) {
      fail(where, error.what());
    }
  } else {
    fail(where, "expected a whole number or a product such as \"2*batch\", not " +
                    printable(json_text(json), 20));
  }
  if (dim.factor < least || dim.factor > kLargest) {
    fail(where, "the value " + std::to_string(dim.factor) + " lies outside " +
                    std::to_string(least) + " to 2^48");
  }
  return dim;
}

graph::Shape shape_of(const Json& json, const std::vector<std::string>& symbols,
                      const std::string& where) {
  graph::Shape shape;
  for (const Json& entry : array(json, graph::kMaxRank, where)) {
    if (entry.is_boolean()) fail(where, "a dimension is a number or a product, not true or false");
    shape.push_back(dim_of(entry, 1, symbols, where));
  }
  try {
    elements(shape);
  } catch (const Error& error) {
    fail(where, error.what());
  }
  return shape;
}

Reference reference(const Json& json, const std::string& where) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) {
    const bool fits = !json.is_number_unsigned() || json.get<std::uint64_t>() < kMostTensors;
    return fits ? json.get<std::int64_t>() : static_cast<std::int64_t>(kMostTensors);
  }
  fail(where, "a tensor is given by its name or number, not " + printable(json_text(json), 20));
}

std::vector<Reference> references(const Json& json, const std::string& where) {
  std::vector<Reference> result;
  const Json::array_t& list = array(json, kMostTensors, where);
  result.reserve(list.size());
  for (const Json& entry : list) result.push_back(reference(entry, where));
  return result;
}

// The value of an attribute whose values are enumerators.
std::optional<std::int64_t> enumerator_value(Attr key, std::string_view name) {
  switch (attr_form(key)) {
    case graph::AttrForm::Operators:
      if (const auto kind = graph::kind_named(name)) return static_cast<std::int64_t>(*kind);
      break;
    case graph::AttrForm::Type:
      if (const auto type = type_named(name)) return static_cast<std::int64_t>(*type);
      break;
    case graph::AttrForm::Optimizer:
      if (const auto row = graph::optimizer_named(name)) return static_cast<std::int64_t>(*row);
      break;
    case graph::AttrForm::Numbers:
      break;
  }
  return std::nullopt;
}

Dim attribute_value(Attr key, const Json& json, const std::vector<std::string>& symbols,
                    const std::string& where) {
  if (attr_form(key) == graph::AttrForm::Numbers) {
    const Dim dim = dim_of(json, -kLargest, symbols, where);
    if (is_number(dim) || key == Attr::Shape || key == Attr::Sizes) return dim;
    fail(where, "the attribute '" + std::string(attr_name(key)) + "' must be a number");
  }
  const auto value =
      json.is_string() ? enumerator_value(key, json.get_ref<const std::string&>()) : std::nullopt;
  if (!value) {
    fail(where, "the attribute '" + std::string(attr_name(key)) + "' has no value " +
                    printable(json_text(json), 40));
  }
  return Dim(*value);
}

// Of an operator that is not known, attributes that are not known either are left out.
graph::Attributes attributes_of(const Json& json, bool known_operator,
                                const std::vector<std::string>& symbols, const std::string& where) {
  if (!json.is_object()) fail(where, "'attributes' is an object");
  graph::Attributes attributes;
  for (const auto& [name, value] : json.items()) {
    const std::optional<Attr> key = graph::attr_named(name);
    if (!known_operator) continue;
    if (!key) {
      fail(where,
           "unknown attribute '" + printable(name) + "'" + did_you_mean(name, graph::attr_names()));
    }
    std::vector<Dim> values;
    if (value.is_array()) {
      const bool parts = *key == Attr::Sizes || *key == Attr::Of;
      for (const Json& entry : array(value, parts ? kMostParts : kMostValues, where)) {
        values.push_back(attribute_value(*key, entry, symbols, where));
      }
    } else {
      values.push_back(attribute_value(*key, value, symbols, where));
    }
    attributes.set(*key, std::move(values));
  }
  return attributes;
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= 64 && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

std::vector<std::string> symbols_of(const Json& json, const std::string& where) {
  std::vector<std::string> symbols;
  for (const Json& symbol : array(json, graph::kMaxSymbols, where)) {
    if (!symbol.is_string() || !is_identifier(symbol.get_ref<const std::string&>())) {
      fail(where, "a symbol is a word of letters, digits and '_', such as \"batch\"");
    }
    if (std::find(symbols.begin(), symbols.end(), symbol.get<std::string>()) != symbols.end()) {
      fail(where, "the symbol '" + symbol.get<std::string>() + "' is given twice");
    }
    symbols.push_back(symbol.get<std::string>());
  }
  return symbols;
}

graph::Tensor tensor_of(JsonFields& fields, std::size_t index,
                        const std::vector<std::string>& symbols) {
  const std::optional<std::int64_t> id = fields.integer("id");
  if (id && !std::cmp_equal(*id, index)) {
    fail(fields.where(), "its 'id' must be its place in the list, counted from 0");
  }
  graph::Tensor tensor;
  tensor.name = text_of(fields, "name");
  tensor.shape = shape_of(fields.require("shape"), symbols, fields.where());
  tensor.type = enumerator(fields, "type", DType::F32, type_named,
                           "f32, f16, bf16, f8, f64, i64, i32, i8, bool");
  tensor.role = enumerator(fields, "role", graph::Role::Activation, graph::role_named,
                           "input, activation, parameter, buffer, gradient, optimizer_state");
  tensor.trainable = fields.boolean("trainable").value_or(tensor.role == graph::Role::Parameter);
  fields.finish();
  return tensor;
}

FtgNode node_of(JsonFields& fields, const std::vector<std::string>& symbols) {
  FtgNode result;
  result.op = bounded(fields.required_text("op"), kLongestName, fields.where());
  result.node.phase = enumerator(fields, "phase", graph::Phase::Forward, graph::phase_named,
                                 "forward, backward, update, recompute");
  result.node.scope = text_of(fields, "scope");
  result.node.label = text_of(fields, "label", kLongestLabel);
  if (const Json* json = fields.find("attributes")) {
    const bool known = graph::kind_named(result.op).has_value();
    result.node.attributes = attributes_of(*json, known, symbols, fields.where());
  }
  if (const Json* json = fields.find("inputs")) result.inputs = references(*json, fields.where());
  if (const Json* json = fields.find("outputs")) result.outputs = references(*json, fields.where());
  fields.finish();
  return result;
}

void check_version(JsonFields& fields) {
  const std::string format = fields.required_text("format");
  if (format != "foretrain-graph") {
    fail(fields.where(),
         "the field 'format' must be \"foretrain-graph\", not \"" + printable(format) + "\"");
  }
  fields.require("version");
  const std::int64_t version = *fields.integer("version");
  if (version != 1) {
    throw Error(ErrorKind::Unsupported,
                printable(fields.where(), 200) + ": version " + std::to_string(version) +
                    " of the graph format is not known; this program reads version 1");
  }
}

void read_lists(JsonFields& fields, FtgFile& file) {
  const std::string& where = fields.where();
  if (const Json* json = fields.find("tensors")) {
    for (const Json& entry : array(*json, kMostTensors, where + ": tensors")) {
      const std::size_t index = file.tensors.size();
      JsonFields tensor(entry, where + ": tensor " + std::to_string(index));
      file.tensors.push_back(tensor_of(tensor, index, file.symbols));
    }
  }
  for (const Json& entry : array(fields.require("nodes"), kMostNodes, where + ": nodes")) {
    JsonFields node(entry, where + ": node " + std::to_string(file.nodes.size()));
    file.nodes.push_back(node_of(node, file.symbols));
  }
}

void read_ends(JsonFields& fields, FtgFile& file) {
  const std::string& where = fields.where();
  if (const Json* json = fields.find("outputs"))
    file.outputs = references(*json, where + ": outputs");
  if (const Json* json = fields.find("loss")) file.loss = reference(*json, where + ": loss");
  if (const Json* json = fields.find("gradients")) {
    for (const Json& entry : array(*json, kMostTensors, where + ": gradients")) {
      std::vector<Reference> pair = references(entry, where + ": gradients");
      if (pair.size() != 2) fail(where + ": gradients", "each entry is [parameter, gradient]");
      file.gradients.emplace_back(std::move(pair[0]), std::move(pair[1]));
    }
  }
  if (const Json* json = fields.find("notes")) {
    for (const Json& note : array(*json, kMostNotes, where + ": notes")) {
      if (!note.is_string()) fail(where + ": notes", "a note is a string");
      file.notes.push_back(
          bounded(note.get_ref<const std::string&>(), kLongestLabel, where + ": notes"));
    }
  }
}

}  // namespace

FtgFile parse_ftg(std::string_view text, const std::string& where) {
  if (text.size() > kLongestText) fail(where, "larger than 512 MiB");
  check_values(text, where);
  const Json json = parse_json(text, where);
  JsonFields fields(json, where);
  check_version(fields);
  FtgFile file;
  file.name = text_of(fields, "name");
  if (const Json* symbols = fields.find("symbols")) {
    file.symbols = symbols_of(*symbols, where + ": symbols");
  }
  read_lists(fields, file);
  read_ends(fields, file);
  fields.finish();
  return file;
}

}  // namespace foretrain::importer

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/request/request.h"
#include "foretrain/request/request_fields.h"
#include "foretrain/request/usual_words.h"

namespace foretrain {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestList = 100'000;

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

bool inside(double value, const FieldRange& range) {
  return (range.above ? value > range.least : value >= range.least) && value <= range.most;
}

std::string whole_range(const FieldRange& range) {
  return "between " + std::to_string(static_cast<std::int64_t>(range.least)) + " and " +
         std::to_string(static_cast<std::int64_t>(range.most));
}

// Reads the values of one object, each as its row says.
class Reader {
 public:
  Reader(const Json& object, const std::string& where) : object_(object), fields_(object, where) {}

  const Json* find(const RequestField& row) { return fields_.find(std::string(row.name)); }

  // Refuses a field that is none of these rows, all of which were asked for.
  void finish(std::span<const RequestField> rows) const {
    std::vector<std::string> known;
    for (const RequestField& row : rows) known.emplace_back(row.name);
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      bad(fields_.where(),
          "unknown field '" + printable(key) + "'" + did_you_mean_field(key, known));
    }
  }

  FieldValue value(const RequestField& row) {
    const std::string key(row.name);
    switch (row.type) {
      case FieldType::Boolean:
        return *fields_.boolean(key);
      case FieldType::Number:
        return number(row, *fields_.number(key));
      case FieldType::Integer:
        if (!row.words.empty() && fields_.find(key)->is_string()) return word(row);
        return integer(row, *fields_.integer(key));
      case FieldType::Integers:
        return integers(row, *fields_.find(key));
      case FieldType::Texts:
        return texts(row, *fields_.find(key));
      case FieldType::Described:
        return described(row, *fields_.find(key));
      case FieldType::Text:
      case FieldType::Object:
        break;
    }
    return text(row, *fields_.text(key));
  }

  // A text, one of the row's words where it has some.
  std::string text(const RequestField& row, const std::string& value) const {
    if (value.empty() || value.size() > kLongestText) {
      fail(row, "must have 1 to " + std::to_string(kLongestText) + " characters");
    }
    const auto known = std::find(row.words.begin(), row.words.end(), value);
    if (row.words.empty() || known != row.words.end()) return value;
    const std::vector<std::string> words(row.words.begin(), row.words.end());
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    fail(row, "is '" + printable(value) + "'; it must be one of " + list + meant(value, words));
  }

  // One of `words`, or a field beside this one: "tensor" is no kind of strategy.
  std::string meant(const std::string& value, const std::vector<std::string>& words) const {
    const std::optional<UsualWord> usual = find_usual_word(value);
    for (const RequestField& field : strategy_fields()) {
      if (field.name != (usual ? usual->field : std::string_view(value))) continue;
      return "; did you mean the field '" + std::string(field.name) + "'?";
    }
    return did_you_mean_value(value, words);
  }

  [[noreturn]] void fail(const RequestField& row, const std::string& what) const {
    bad(fields_.where(), "'" + std::string(row.name) + "' " + what);
  }

 private:
  // One that may stand for a number.
  std::string word(const RequestField& row) {
    const std::string value = *fields_.text(std::string(row.name));
    if (std::find(row.words.begin(), row.words.end(), value) == row.words.end()) {
      fail(row, "is '" + printable(value) + "'; it must be a whole number or " +
                    std::string(row.words.front()));
    }
    return value;
  }

  double number(const RequestField& row, double value) const {
    if (!inside(value, row.range)) {
      fail(row, format("must be at least %g and at most %g", row.range.least, row.range.most));
    }
    return value;
  }

  std::int64_t integer(const RequestField& row, std::int64_t value) const {
    if (!inside(static_cast<double>(value), row.range)) {
      fail(row, "must be " + whole_range(row.range));
    }
    return value;
  }

  std::vector<int> integers(const RequestField& row, const Json& value) const {
    if (!value.is_array() || value.empty() || value.size() > kLongestList) {
      fail(row, "must be a list of whole numbers, e.g. [4, 4]");
    }
    std::vector<int> result;
    for (const Json& entry : value) {
      if (!entry.is_number_integer() || !inside(entry.get<double>(), row.range)) {
        fail(row, "must hold whole numbers " + whole_range(row.range));
      }
      result.push_back(entry.get<int>());
    }
    return result;
  }

  std::vector<std::string> texts(const RequestField& row, const Json& value) const {
    const bool names =
        value.is_array() && std::all_of(value.begin(), value.end(),
                                        [](const Json& entry) { return entry.is_string(); });
    if (!names) fail(row, "must be a list of texts, e.g. [\"a.json\"]");
    return value.get<std::vector<std::string>>();
  }

  // A name, or an object whose JSON is kept for the module that understands it.
  Described described(const RequestField& row, const Json& value) const {
    if (value.is_object()) return {json_text(value), true};
    if (value.is_string()) return {text(row, value.get<std::string>()), false};
    fail(row, "must be a name or an object");
  }

  const Json& object_;
  JsonFields fields_;
};

void read_strategy(const Json& value, const std::string& where, Request& request) {
  const std::span<const RequestField> rows = strategy_fields();
  if (value.is_string()) {
    const Json object = {{"kind", value}};
    return read_strategy(object, where, request);
  }
  if (!value.is_object()) bad(where, "'strategy' must be a name or an object");
  Reader reader(value, where + ": strategy");
  for (const RequestField& row : rows) {
    if (reader.find(row) != nullptr) row.store(request, reader.value(row));
  }
  reader.finish(rows);
}

bool given(const Json& object, const char* name) {
  const auto field = object.find(name);
  return field != object.end() && !field->is_null();
}

// Who gives a placement gives the number of workers.
void check_cluster(const Json& object, const std::string& where, Request& request) {
  const bool workers = given(object, "workers");
  if (!request.placement.empty()) {
    const auto sum =
        std::accumulate(request.placement.begin(), request.placement.end(), std::int64_t{0});
    if (request.workers_per_node) {
      bad(where, "give 'placement' or 'workers_per_node', not both");
    }
    if (workers && request.workers != sum) {
      bad(where, "'placement' adds up to " + std::to_string(sum) + " devices, 'workers' says " +
                     std::to_string(request.workers));
    }
    request.workers = static_cast<int>(sum);
  }
  if (request.cluster && (request.device || !request.placement.empty() || workers ||
                          request.workers_per_node || request.intra_node || request.network)) {
    bad(where,
        "'cluster' already says devices, placement and links; leave out device, "
        "workers, workers_per_node, placement, intra_node and network");
  }
}

void check_length(const std::string& where, const Request& request) {
  if ((request.batch || request.largest_batch) && request.global_batch) {
    bad(where, "give 'batch' or 'global_batch', not both");
  }
  const int lengths = (request.epochs ? 1 : 0) + (request.steps ? 1 : 0) + (request.tokens ? 1 : 0);
  if (lengths > 1) bad(where, "give only one of 'epochs', 'steps' and 'tokens'");
  if (request.samples && request.dataset) bad(where, "give 'samples' or 'dataset', not both");
}

}  // namespace

Request parse_request(std::string_view json, const std::string& where) {
  const Json object = parse_json(json, where);
  if (!object.is_object()) {
    bad(where, "a request is a JSON object such as {\"model\": \"resnet50\"}");
  }
  if (!given(object, "model")) {
    bad(where, "'model' is required: a built-in name (foretrain models) or a file");
  }
  Reader reader(object, where);
  Request request;
  for (const RequestField& row : request_fields()) {
    const Json* value = reader.find(row);
    if (value == nullptr) continue;
    if (row.type == FieldType::Object) {
      read_strategy(*value, where, request);
    } else {
      row.store(request, reader.value(row));
    }
  }
  check_cluster(object, where, request);
  check_length(where, request);
  reader.finish(request_fields());
  return request;
}

}  // namespace foretrain

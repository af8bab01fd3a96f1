// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/collected_operators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::measured {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

constexpr double kBackwardOverhead = 16e-6;  // to start autograd for one operator, on a CPU
constexpr std::int64_t kLargestSize = 1'000'000'000;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

// "2x3x64x64"
graph::Shape shape_of(const std::string& text, const std::string& where) {
  graph::Shape shape;
  std::istringstream sizes(text);
  for (std::string size; std::getline(sizes, size, 'x');) {
    std::int64_t value = 0;
    const bool fine = parse(size, value) && value >= 1 && value <= kLargestSize;
    if (!fine || shape.rank() == graph::kMaxRank) {
      fail(where, "'" + printable(text) + "' is not a shape");
    }
    shape.push_back(value);
  }
  return shape;
}

// {"stride": 2, "padding": [1, 1]}
Attributes attributes_of(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where + ": attributes");
  if (!json.is_object()) fail(where, "attributes are not a JSON object");
  Attributes attributes;
  for (const auto& [name, value] : json.items()) {
    const std::optional<Attr> attr = graph::attr_named(name);
    if (!attr) fail(where, "attribute '" + printable(name) + "' is not known");
    std::vector<graph::Dim> numbers;
    for (const Json& number : value.is_array() ? value : Json::array({value})) {
      if (!number.is_number_integer()) {
        fail(where, "attribute '" + printable(name) + "' is not a whole number");
      }
      numbers.emplace_back(number.get<std::int64_t>());
    }
    attributes.set(*attr, numbers);
  }
  return attributes;
}

bool holds_indices(Kind kind, std::size_t input) {
  return (kind == Kind::Embedding && input == 0) ||
         ((kind == Kind::CrossEntropy || kind == Kind::Gather) && input == 1);
}

// Of tensors that are stored in 16 bits.
std::optional<Precision> half_precision(std::string_view dtype) {
  if (dtype == "f16") return Precision::Fp16;
  if (dtype == "bf16") return Precision::Bf16;
  return std::nullopt;
}

graph::Graph graph_of(const Row& row, const std::string& where) {
  const std::string name(cell(row, "kind"));
  const std::optional<Kind> kind = graph::kind_named(name);
  if (!kind) fail(where, "operator '" + printable(name) + "' is not known");
  Builder builder("operator");
  std::vector<TensorId> inputs;
  std::istringstream shapes{std::string(cell(row, "shapes"))};
  for (std::string text; std::getline(shapes, text, ';');) {
    const std::string tensor = "x" + std::to_string(inputs.size());
    const graph::Shape shape = shape_of(text, where);
    if (holds_indices(*kind, inputs.size())) {
      inputs.push_back(builder.input(tensor, shape, DType::I64));
    } else if (*kind == Kind::BatchNorm && inputs.size() >= 3) {
      inputs.push_back(builder.buffer(tensor, shape));
    } else {
      inputs.push_back(builder.parameter(tensor, shape));
    }
  }
  builder.output(builder.add(*kind, inputs, attributes_of(cell(row, "attributes"), where)));
  return builder.finish();
}

}  // namespace

std::string collected_device(std::string_view machine) {
  const std::size_t at = machine.find('@');
  if (at != std::string_view::npos) return std::string(machine.substr(at + 1));
  return machine.starts_with("lab-") ? "cpu:cores=1" : std::string(machine);
}

std::unique_ptr<OperatorCase> collected_case(const Row& row, const std::string& where) {
  auto one = std::make_unique<OperatorCase>();
  one->line = row.line;
  one->device = collected_device(cell(row, "machine"));
  one->op = cell(row, "kind");
  one->split = "train";
  if (!parse(cell(row, "time_s"), one->measured_s) || !(one->measured_s > 0) ||
      !std::isfinite(one->measured_s)) {
    fail(where, "time_s is not a number above 0");
  }
  try {
    one->graph = graph_of(row, where);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(where)) throw;
    fail(where, what);
  }
  if (const auto precision = half_precision(cell(row, "dtype"))) {
    one->precision = *precision;
    one->graph = graph::set_precision(one->graph, *precision, graph::Casting::WholeModel);
  }
  if (cell(row, "direction") == "backward") {
    one->phase = graph::Phase::Backward;
    one->op += " backward";
    one->overhead_s = kBackwardOverhead;
    one->graph = graph::backward(std::move(one->graph));
  }
  one->bound = graph::bind(one->graph, {{"batch", 1}});
  return one;
}

bool are_collected(const std::vector<std::string>& columns) {
  constexpr auto kColumns = std::to_array<std::string_view>(
      {"machine", "kind", "shapes", "attributes", "direction", "time_s"});
  return std::all_of(kColumns.begin(), kColumns.end(), [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

OperatorCases read_collected(Table& file, std::size_t stride) {
  OperatorCases cases;
  std::size_t number = 0;
  for (Row row; file.next(row);) {
    if (number++ % stride != 0) continue;
    cases.push_back(collected_case(row, file.where() + ": line " + std::to_string(row.line)));
  }
  return cases;
}

}  // namespace foretrain::measured

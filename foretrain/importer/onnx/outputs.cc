// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/importer/onnx/call.h"

namespace foretrain::importer {
namespace {

std::size_t bytes_of(const OnnxValue& value) {
  std::size_t bytes = sizeof(OnnxValue) + value.content.size() * sizeof(Scalar) +
                      value.items.size() * sizeof(OnnxValue*) +
                      value.parts.size() * sizeof(OnnxPart);
  for (const Scalar& scalar : value.content) bytes += scalar.terms().size() * sizeof(graph::Dim);
  return bytes;
}

}  // namespace

OnnxValue* new_value(OnnxTranslation& all, OnnxValue value) {
  all.budget.spend(bytes_of(value));
  all.values.push_back(std::move(value));
  return &all.values.back();
}

bool OnnxCall::wants(int i) const {
  const auto index = static_cast<std::size_t>(i);
  return index < node_.outputs.size() && !node_.outputs[index].empty();
}

bool OnnxCall::given(int i) const {
  return scope_.values.contains(node_.outputs[static_cast<std::size_t>(i)]);
}

void OnnxCall::give(int i, OnnxValue* value) const {
  if (!wants(i)) return;
  const std::string_view name = node_.outputs[static_cast<std::size_t>(i)];
  if (!scope_.values.try_emplace(name, value).second) {
    fail("writes '" + printable(name) + "', which is there already");
  }
}

void OnnxCall::give(int i, OnnxValue value) const {
  if (!wants(i)) return;
  value.name = node_.outputs[static_cast<std::size_t>(i)];
  give(i, new_value(all_, std::move(value)));
}

void OnnxCall::give(int i, graph::TensorId id) const {
  OnnxValue value;
  value.shape = all_.graph.tensor(id).shape;
  value.type = all_.graph.tensor(id).type;
  value.tensor = id;
  give(i, std::move(value));
}

void OnnxCall::charge(std::size_t count) const { all_.budget.spend(count * OnnxBudget::kTerm); }

void OnnxCall::give_content(int i, const graph::Shape& shape, DType type,
                            std::vector<Scalar> content) const {
  charge(content.size() + 1);
  OnnxValue value;
  value.shape = shape;
  value.type = type;
  value.known = OnnxValue::Known::All;
  value.content = std::move(content);
  give(i, std::move(value));
}

void OnnxCall::give_uniform(int i, const graph::Shape& shape, DType type, Scalar scalar) const {
  const graph::Dim count = elements(shape);
  if (is_number(count) && count.factor <= static_cast<std::int64_t>(kMostOnnxValues)) {
    give_content(i, shape, type,
                 std::vector<Scalar>(static_cast<std::size_t>(count.factor), scalar));
    return;
  }
  OnnxValue value;
  value.shape = shape;
  value.type = type;
  value.known = OnnxValue::Known::Uniform;
  value.content = {std::move(scalar)};
  give(i, std::move(value));
}

}  // namespace foretrain::importer

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/graph.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::graph {

Attributes::Attributes(std::initializer_list<Attribute> list) {
  for (const Attribute& attribute : list) set(attribute.key, attribute.values);
}

const std::vector<Dim>* Attributes::find(Attr key) const {
  for (const Attribute& attribute : list_) {
    if (attribute.key == key) return &attribute.values;
  }
  return nullptr;
}

std::int64_t Attributes::number(Attr key, std::int64_t otherwise) const {
  const std::vector<Dim>* values = find(key);
  return values == nullptr || values->empty() ? otherwise : values->front().factor;
}

std::int64_t Attributes::at(Attr key, int i, std::int64_t otherwise) const {
  const std::vector<Dim>* values = find(key);
  if (values == nullptr || values->empty()) return otherwise;
  const auto index = static_cast<std::size_t>(i);
  return values->size() > index ? (*values)[index].factor : values->front().factor;
}

void Attributes::set(Attr key, std::vector<Dim> values) {
  const auto place = std::lower_bound(list_.begin(), list_.end(), key,
                                      [](const Attribute& a, Attr k) { return a.key < k; });
  if (place != list_.end() && place->key == key) {
    place->values = std::move(values);
  } else {
    list_.insert(place, {key, std::move(values)});
  }
}

std::int64_t parameter_count(const Graph& graph) {
  std::int64_t count = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.role != Role::Parameter) continue;
    if (__builtin_add_overflow(count, elements(tensor.shape).factor, &count)) {
      throw Error(ErrorKind::BadInput,
                  "model '" + printable(graph.name) + "' has more than 2^63 parameters");
    }
  }
  return count;
}

}  // namespace foretrain::graph

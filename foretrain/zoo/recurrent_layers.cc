// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/detail/recurrent_layers.h"

#include <vector>

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Dim;
using graph::TensorId;

TensorId recurrent(Builder& builder, const std::string& name, TensorId x, const Recurrence& form) {
  const graph::Scope scope(builder, name);
  const auto gates = static_cast<std::int64_t>(form.cell);
  const std::int64_t directions = form.bidirectional ? 2 : 1;
  const std::int64_t rows = gates * form.hidden;
  Dim width = builder.shape(x)[2];
  std::vector<TensorId> inputs{x};
  for (std::int64_t layer = 0; layer < form.layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
      inputs.push_back(builder.parameter("weight_ih" + suffix, {rows, width}));
      inputs.push_back(builder.parameter("weight_hh" + suffix, {rows, form.hidden}));
      inputs.push_back(builder.parameter("bias_ih" + suffix, {rows}));
      inputs.push_back(builder.parameter("bias_hh" + suffix, {rows}));
    }
    width = Dim(form.hidden * directions);
  }
  Attributes attributes{{Attr::Gates, {gates}},
                        {Attr::Hidden, {form.hidden}},
                        {Attr::Layers, {form.layers}},
                        {Attr::Directions, {directions}}};
  if (form.dropout && form.layers > 1) attributes.set(Attr::Dropout, {1});
  return builder.add(graph::Kind::Recurrent, inputs, attributes);
}

}  // namespace foretrain::zoo

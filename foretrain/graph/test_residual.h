// SPDX-License-Identifier: Apache-2.0
// Blocks that tests build networks of.
#pragma once

#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::graph {

inline TensorId dense(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  return b.add(Kind::Linear, {x, b.parameter("weight", {8, 8})});
}

// Two linear layers with an activation between them, added to their input.
inline TensorId residual(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const TensorId y = dense(b, "fc2", b.add(Kind::Relu, {dense(b, "fc1", x)}));
  return b.add(Kind::Add, {x, y});
}

}  // namespace foretrain::graph

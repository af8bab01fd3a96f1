// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

// Activation functions by the names of Hugging Face's configurations: "relu", "gelu_new", ...
const std::vector<std::string>& activation_names();

// One kernel, or as many as Hugging Face runs: gelu_new is composed of eight. `name` is one of
// the above.
graph::TensorId activate(graph::Builder& builder, const std::string& name, graph::TensorId x);

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

// What each stage of an EfficientNet gives, such as "efficientnet_b0"; in the scope that is open.
std::vector<graph::TensorId> efficientnet_stages(graph::Builder& builder, graph::TensorId x,
                                                 const std::string& name);

}  // namespace foretrain::zoo

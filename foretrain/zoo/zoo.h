// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/graph.h"
#include "foretrain/zoo/model.h"

namespace foretrain::zoo {

const std::vector<Model>& models();

// Builds the model that `text` names ("resnet50:image=224"), with batch as a symbol and its
// usual loss. Throws Error: NotFound for an unknown name (near matches listed), BadInput for
// a parameter that does not exist or does not fit.
graph::Graph build(const std::string& text);

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/importer/onnx/call.h"

namespace foretrain::importer {

// The function of the file that a node calls; null where it calls none.
const OnnxFunction* find_function(const OnnxTranslation& all, const OnnxNode& node);

// Translates a function's nodes in place of the call. Throws Error(BadInput) where it calls
// itself, directly or by others.
void inline_function(const OnnxCall& call, const OnnxFunction& function);

}  // namespace foretrain::importer

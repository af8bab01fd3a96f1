// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foretrain/knowledge/library.h"
#include "foretrain/request/resolve.h"

namespace foretrain::operators {

// The step that the request asks for, from the cache or prepared now: the model with its
// precision, gradients, update, fusions and the strategy's communication. Throws Error as
// find_model does.
std::shared_ptr<const Step> find_step(const Resolved& resolved, const Library& library);

}  // namespace foretrain::operators

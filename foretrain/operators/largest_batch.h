// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/knowledge/library.h"
#include "foretrain/request/resolve.h"

namespace foretrain::operators {

// Where the request asks for the largest batch that fits, the same with that batch, per worker; it
// is found by doubling and bisection over the memory of one step, which never falls when the batch
// grows. What asks for a batch stays as it is. Throws Error(BadInput) where one sample does not
// fit.
Resolved with_largest_batch(Resolved resolved, const Library& library);

}  // namespace foretrain::operators

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"
#include "foretrain/parallel/plan.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// Every all-reduce of the step over all workers, by the fastest algorithm for its size.
ExchangePlan reduce_buckets(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/comm/exchange_costs.h"
#include "foretrain/graph/buckets.h"

namespace foretrain::parallel {

// Of PyTorch's DistributedDataParallel.
graph::BucketSizes ddp_buckets(const comm::ExchangeCosts& costs);

}  // namespace foretrain::parallel

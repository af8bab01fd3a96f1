// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/buckets.h"

namespace foretrain::parallel {

// PyTorch's DistributedDataParallel: a first bucket of 1 MiB so that communication starts early,
// then 25 MiB. Source: its documentation, bucket_cap_mb.
inline constexpr graph::BucketSizes kDdpBuckets{1024 * 1024, 25 * 1024 * 1024};

}  // namespace foretrain::parallel

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/profile/analyse.h"
#include "foretrain/store/rows.h"

namespace foretrain::lab {

// How a process used one resource, for the store; role and instance are left to the caller.
store::Metric metric_of(const profile::ResourceUse& use);

}  // namespace foretrain::lab

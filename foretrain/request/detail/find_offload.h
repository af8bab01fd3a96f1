// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/hw/cluster.h"
#include "foretrain/request/offload.h"
#include "foretrain/request/request.h"

namespace foretrain {

// What the request says of offload, with the links of the cluster's devices to their hosts. Throws
// Error(BadInput) where there is nothing that could lie in the host's memory.
Offload find_offload(const Request& request, const hw::Cluster& cluster,
                     const hw::Catalog& catalog);

}  // namespace foretrain

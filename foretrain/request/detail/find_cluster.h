// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/request/resolve.h"

namespace foretrain {

// The device of a field: of the catalog, or described as JSON or by a file. Throws Error.
hw::Device find_device(const Described& described, const Library& library, const char* field,
                       std::vector<std::string>& notes);

// The nodes of the request with their devices and links; what nobody stated is noted among the
// assumptions. Needs `resolved.instance`. Throws Error.
hw::Cluster find_cluster(const Request& request, const Library& library, Resolved& resolved);

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/hw/cluster.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/request/request.h"

namespace foretrain {

// The device of a field: of the catalog, or described as JSON or by a file. Throws Error.
hw::Device find_device(const Described& described, const Library& library, const char* field,
                       std::vector<std::string>& notes);

// The nodes of the request with their devices and links; what nobody stated is noted among the
// assumptions. `instance` is that of the request's cloud. Throws Error.
hw::Cluster find_cluster(const Request& request, const Library& library,
                         const std::optional<hw::Instance>& instance,
                         std::vector<std::string>& assumptions);

}  // namespace foretrain

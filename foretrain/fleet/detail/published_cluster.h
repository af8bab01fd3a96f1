// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foretrain::fleet {

// The description of a cluster that was published as CSV, as a cluster file: Tiresias's
// (num_switch, num_node_p_switch, num_gpu_p_node; a switch is a rack) or the list of nodes of
// Alibaba 2023 (sn, gpu, model). What these do not say is assumed and noted. `where` begins every
// message. Throws Error(BadInput), naming the line.
std::string published_cluster(const std::string& csv, const std::string& where,
                              std::vector<std::string>& assumptions);

}  // namespace foretrain::fleet

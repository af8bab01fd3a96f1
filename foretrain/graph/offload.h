// SPDX-License-Identifier: Apache-2.0
// Communication of a device with its own host, which works for it as a parameter server does: nodes
// are pushed to it (copied out), pulled from it (copied in), and updated there.
#pragma once

#include <string>

#include "foretrain/graph/op.h"

namespace foretrain::graph {

inline bool is_offload(const Node& node) {
  return is_communication(node) && among(node) == Among::Host;
}

inline bool is_copy_out(const Node& node) { return is_offload(node) && node.kind == Kind::Push; }
inline bool is_copy_in(const Node& node) { return is_offload(node) && node.kind == Kind::Pull; }
inline bool is_host_update(const Node& node) {
  return is_offload(node) && node.kind == Kind::ServerUpdate;
}

// Makes the node, a push, a pull or a server's update, one of those above.
inline void set_offload(Node& node) {
  node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(Among::Host))});
  node.label = node.kind == Kind::Push   ? "copy_out"
               : node.kind == Kind::Pull ? "copy_in"
                                         : "host_update";
}

}  // namespace foretrain::graph

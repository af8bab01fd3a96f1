// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {

Graph for_inference(const Graph& model) {
  std::vector<bool> needed(model.tensors.size(), false);
  for (const TensorId id : model.outputs) needed[static_cast<std::size_t>(id)] = true;
  std::vector<bool> keep(model.nodes.size(), false);
  for (std::size_t n = model.nodes.size(); n-- > 0;) {
    for (const TensorId id : model.nodes[n].outputs) {
      keep[n] = keep[n] || needed[static_cast<std::size_t>(id)];
    }
    if (!keep[n]) continue;
    for (const TensorId id : model.nodes[n].inputs) needed[static_cast<std::size_t>(id)] = true;
  }
  Rewrite rewrite(model);
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    if (!keep[n]) continue;
    Node node = model.nodes[n];
    const bool mask_is_read =
        node.kind == Kind::Dropout && needed[static_cast<std::size_t>(node.outputs[1])];
    if (node.kind == Kind::Dropout && !mask_is_read) {
      rewrite.becomes(node.outputs[0], rewrite.now(node.inputs[0]));
      continue;
    }
    if (node.kind == Kind::BatchNorm) node.attributes.set(Attr::Frozen, {Dim(1)});
    if (node.kind == Kind::Attention) node.attributes.set(Attr::Dropout, {Dim(0)});
    rewrite.keep(node);
  }
  Graph result = rewrite.finish();
  result.loss.reset();
  return result;
}

}  // namespace foretrain::graph

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/share_of_flops.h"

#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"

namespace foretrain::parallel {

double share_of_flops(const graph::Graph& model, const std::function<bool(std::size_t)>& counts) {
  graph::Binding ones;
  for (const std::string& symbol : model.symbols) ones.emplace_back(symbol, 1);
  const graph::Bound bound = graph::bind(model, ones);
  double counted = 0;
  double all = 0;
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const double flops = graph::work(graph::NodeView{bound, model.nodes[n]}).flops;
    all += flops;
    if (counts(n)) counted += flops;
  }
  return all > 0 ? counted / all : 0;
}

}  // namespace foretrain::parallel

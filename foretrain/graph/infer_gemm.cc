// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/error.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

void require_bias(const Shapes& inputs, std::size_t index, const Dim& channels) {
  if (inputs.size() <= index) return;
  require(inputs[index].rank() == 1 && inputs[index][0] == channels,
          "the bias does not have one value per output channel");
}

}  // namespace

Shapes infer_linear(const Node&, const Shapes& inputs) {
  require_inputs(inputs, 2, 3);
  const Shape& x = inputs[0];
  const Shape& weight = inputs[1];
  require(x.rank() >= 1 && weight.rank() == 2, "linear takes [..., k] and a weight of [n, k]");
  require(x[x.rank() - 1] == weight[1], "the last dimension differs from the weight's second");
  require_bias(inputs, 2, weight[0]);
  Shape result = x;
  result[x.rank() - 1] = weight[0];
  return {result};
}

Shapes infer_matmul(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 2, 2);
  const Shape& a = inputs[0];
  const Shape& b = inputs[1];
  require(a.rank() >= 2 && b.rank() >= 2, "matmul takes tensors of rank 2 or more");
  const bool ta = node.attributes.number(Attr::TransposeA, 0) != 0;
  const bool tb = node.attributes.number(Attr::TransposeB, 0) != 0;
  const Dim m = a[a.rank() - (ta ? 1 : 2)];
  const Dim k = a[a.rank() - (ta ? 2 : 1)];
  const Dim k2 = b[b.rank() - (tb ? 1 : 2)];
  const Dim n = b[b.rank() - (tb ? 2 : 1)];
  require(k == k2, "the inner dimensions differ");
  const Shape lead_a(a.dims().first(static_cast<std::size_t>(a.rank() - 2)));
  const Shape lead_b(b.dims().first(static_cast<std::size_t>(b.rank() - 2)));
  Shape result = broadcast(lead_a, lead_b);
  result.push_back(m);
  result.push_back(n);
  return {result};
}

Shapes infer_conv(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 2, 3);
  const Shape& x = inputs[0];
  const Shape& weight = inputs[1];
  require(x.rank() >= 3 && x.rank() <= 5 && weight.rank() == x.rank(),
          "conv takes [batch, channels, space...] and a weight of the same rank");
  const bool transposed = node.attributes.number(Attr::Transposed, 0) != 0;
  const std::int64_t groups = node.attributes.number(Attr::Groups, 1);
  require(groups >= 1 && is_number(x[1]) && x[1].factor % groups == 0,
          "the groups do not divide the input channels");
  const Dim in_channels = transposed ? weight[0] : weight[1] * Dim(groups);
  require(in_channels == x[1], "the input's channels differ from the weight's");
  require(transposed || weight[0].factor % groups == 0,
          "the groups do not divide the output channels");
  const Dim out_channels = transposed ? weight[1] * Dim(groups) : weight[0];
  require_bias(inputs, 2, out_channels);
  Shape result{x[0], out_channels};
  for (int axis = 2; axis < x.rank(); ++axis) {
    result.push_back(
        transposed ? unwindowed(node, x[axis], axis - 2, weight[axis].factor)
                   : windowed(node, x[axis], axis - 2, x.rank() - 2, weight[axis].factor, false));
  }
  return {result};
}

Shapes infer_attention(const Node&, const Shapes& inputs) {
  require_inputs(inputs, 3, 4);
  const Shape& q = inputs[0];
  const Shape& k = inputs[1];
  const Shape& v = inputs[2];
  require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4,
          "attention takes [batch, heads, length, head size]");
  require(q[0] == k[0] && k[0] == v[0] && q[3] == k[3], "query, key and value do not fit");
  require(k[1] == v[1] && k[2] == v[2], "key and value differ");
  Dim ratio;
  require(divides(k[1], q[1], ratio), "key heads do not divide the query heads");
  const Shape scores{q[0], q[1], q[2], k[2]};
  require(inputs.size() < 4 || broadcast(scores, inputs[3]) == scores,
          "what is added to the scores does not fit [batch, heads, queries, keys]");
  return {Shape{q[0], q[1], q[2], v[3]}, Shape{q[0], q[1], q[2]}};
}

Shapes infer_recurrent(const Node& node, const Shapes& inputs) {
  require(inputs.size() >= 3, "recurrent takes an input and its weights");
  const Shape& x = inputs[0];
  require(x.rank() == 3, "recurrent takes [time, batch, features]");
  const std::int64_t hidden = node.attributes.number(Attr::Hidden, 0);
  const std::int64_t layers = node.attributes.number(Attr::Layers, 1);
  const std::int64_t directions = node.attributes.number(Attr::Directions, 1);
  const std::int64_t gates = node.attributes.number(Attr::Gates, 4);
  require(hidden > 0 && layers > 0 && layers <= 1024 && (directions == 1 || directions == 2),
          "recurrent needs 'hidden', 'layers' and 'directions' in range");
  require(gates == 1 || gates == 3 || gates == 4, "'gates' is 1, 3 (GRU) or 4 (LSTM)");
  const Dim& batch = node.attributes.number(Attr::BatchFirst, 0) != 0 ? x[0] : x[1];
  // What cuDNN keeps for the backward pass. Source: docs/models/memory.md.
  const std::int64_t kept = gates == 4 ? 6 * layers - 1 : gates == 3 ? 6 * layers : 2 * layers;
  const std::int64_t states = gates == 4 ? 2 : 1;
  return {Shape{x[0], x[1], Dim(hidden * directions)},
          Shape{Dim(states * layers * directions), batch, Dim(hidden)},
          Shape{Dim(kept * directions), x[0], x[1], Dim(hidden)}};
}

Shapes infer_embedding(const Node&, const Shapes& inputs) {
  require_inputs(inputs, 2, 2);
  require(inputs[1].rank() == 2, "embedding takes indices and a table of [rows, width]");
  Shape result = inputs[0];
  result.push_back(inputs[1][1]);
  return {result};
}

}  // namespace foretrain::graph

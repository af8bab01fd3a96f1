// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/gemm.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;
using graph::NodeView;

struct Layers {
  double steps;
  double batch;
  double features;
  double hidden;
  double gates;  // rows of the weights per hidden value
  double layers;
  double directions;
};

Layers layers_of(const NodeView& v, int x) {
  const bool batch_first = v.attr(Attr::BatchFirst, 0) != 0;
  const graph::Extent& in = v.in(x);
  return {.steps = static_cast<double>(in[batch_first ? 1 : 0]),
          .batch = static_cast<double>(in[batch_first ? 0 : 1]),
          .features = static_cast<double>(in[2]),
          .hidden = static_cast<double>(v.attr(Attr::Hidden, 1)),
          .gates = static_cast<double>(v.attr(Attr::Gates, 4)),
          .layers = static_cast<double>(v.attr(Attr::Layers, 1)),
          .directions = static_cast<double>(v.attr(Attr::Directions, 1))};
}

void add(OpTime& sum, const OpTime& part, double times) {
  sum.total += part.total * times;
  sum.compute += part.compute * times;
  sum.memory += part.memory * times;
  sum.kernels += static_cast<int>(static_cast<double>(part.kernels) * times);
}

// The recurrent GEMMs: T steps after one another. Layers run as a wavefront, one step
// behind each other, unless there are two directions: then a layer needs the whole one below.
OpTime recurrent_chain(const Layers& l, DType type, double element, bool backward,
                       const Context& context) {
  const bool wavefront = l.directions == 1;
  const double depth = wavefront ? l.steps + l.layers - 1 : l.steps * l.layers;
  Gemm g{.batch = wavefront ? l.layers : l.directions,
         .m = l.batch,
         .n = l.gates * l.hidden,
         .k = l.hidden,
         .in_bytes = element,
         .out_bytes = element};
  if (backward) std::swap(g.n, g.k);
  OpTime step = gemm_time(g, type, true, context);
  // The gates' kernel and the gaps around both.
  step.total += Seconds{context.model->constants.recurrent_step};
  step.kernels += 1;
  OpTime chain;
  add(chain, step, depth);
  return chain;
}

// The GEMMs of all steps at once, of one layer whose input is `features` wide.
OpTime input_gemms(const Layers& l, double features, DType type, double element, bool backward,
                   const Context& context) {
  const double rows = l.steps * l.batch;
  const double wide = l.gates * l.hidden * l.directions;
  const auto gemm = [&](double m, double n, double k) {
    return gemm_time({.m = m, .n = n, .k = k, .in_bytes = element, .out_bytes = element}, type,
                     true, context);
  };
  OpTime sum;
  if (!backward) {
    add(sum, gemm(rows, wide, features), 1);
    return sum;
  }
  add(sum, gemm(rows, features, wide), 1);  // of the input
  add(sum, gemm(wide, features, rows), 1);  // of the input weights
  add(sum, gemm(wide, l.hidden, rows), 1);  // of the recurrent weights
  return sum;
}

}  // namespace

OpTime recurrent_time(const NodeView& v, const Context& context) {
  const bool backward = v.node.kind == Kind::RecurrentGrad;
  const int x = backward ? 1 : 0;
  const Layers l = layers_of(v, x);
  const DType type = v.in_type(x);
  const double element = bytes_of(type);
  OpTime time = recurrent_chain(l, type, element, backward, context);
  add(time, input_gemms(l, l.features, type, element, backward, context), 1);
  if (l.layers > 1) {
    const double features = l.hidden * l.directions;
    add(time, input_gemms(l, features, type, element, backward, context), l.layers - 1);
  }
  return time;
}

}  // namespace foretrain::cost

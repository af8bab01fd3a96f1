// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/families.h"
#include "foretrain/cost/op_time.h"

namespace foretrain::cost {

OpTime analytic_time(const graph::NodeView& v, const graph::Work& work, const Context& context) {
  using graph::Family;
  if (context.cpu) return cpu_time(v, work, context);
  switch (graph::op(v.node).family) {
    case Family::View:
      return {};
    case Family::Matrix:
      return matrix_time(v, context);
    case Family::Convolution:
      return conv_time(v, context);
    case Family::Attention:
      return attention_time(v, work, context);
    case Family::Recurrent:
      return recurrent_time(v, context);
    case Family::Update:
      return update_time(v, work, context);
    default:
      return memory_bound_time(v, work, context);
  }
}

}  // namespace foretrain::cost

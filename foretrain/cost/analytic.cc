// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/families.h"

namespace foretrain::cost {

namespace {

OpTime with_share(OpTime time, double unthrottled_share) {
  time.unthrottled_share = unthrottled_share;
  return time;
}

}  // namespace

OpTime analytic_time(const graph::NodeView& v, const graph::Work& work, const Context& context) {
  using graph::Family;
  if (context.cpu) return cpu_time(v, work, context);
  switch (graph::op(v.node).family) {
    case Family::View:
      return {};
    case Family::Matrix:
      return with_share(matrix_time(v, context), context.gemm_unthrottled_share);
    case Family::Convolution:
      return with_share(conv_time(v, context), context.conv_unthrottled_share);
    case Family::Attention:
      return with_share(attention_time(v, work, context), context.gemm_unthrottled_share);
    case Family::Recurrent:
      return with_share(recurrent_time(v, context), context.gemm_unthrottled_share);
    case Family::Update:
      return update_time(v, work, context);
    default:
      return memory_bound_time(v, work, context);
  }
}

}  // namespace foretrain::cost

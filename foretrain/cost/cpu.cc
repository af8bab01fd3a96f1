// SPDX-License-Identifier: Apache-2.0
// A CPU as a roofline with an efficiency per kind of operator.
#include <algorithm>

#include "foretrain/cost/families.h"

namespace foretrain::cost {
namespace {

using graph::Family;

constexpr double kOverhead = 7e-6;  // s per operator: dispatch and threads; assumed 5-10 us
constexpr double kGemmShare = 0.75;  // of the peak, large products (oneDNN, MKL)
constexpr double kConvShare = 0.55;  // likewise, convolutions
constexpr double kAttentionShare = 0.4;
constexpr double kVectorShare = 0.25;  // element-wise functions
constexpr double kRampFlops = 2e6;     // product at which half of the share is reached

double share_of(Family family) {
  switch (family) {
    case Family::Matrix:
    case Family::Recurrent:
      return kGemmShare;
    case Family::Convolution:
      return kConvShare;
    default:
      return kAttentionShare;
  }
}

}  // namespace

OpTime cpu_time(const graph::NodeView& v, const graph::Work& work, const Context& context) {
  const Family family = graph::op(v.node).family;
  if (family == Family::View) return {};
  const double peak = std::max(1.0, context.device->fp32_flops_per_s);
  const double products = work.flops > 0 ? (work.flops + kRampFlops) / (share_of(family) * peak) : 0;
  const double compute = products + work.vector_flops / (kVectorShare * peak);
  const double memory = (work.read_bytes + work.written_bytes) / context.memory_bytes_per_s;
  return {Seconds{std::max(compute, memory) + kOverhead}, Seconds{compute}, Seconds{memory}, 1};
}

}  // namespace foretrain::cost

// SPDX-License-Identifier: Apache-2.0
// A CPU as a roofline with an efficiency per kind of operator. Shares are assumptions about
// oneDNN and MKL kernels, to be calibrated on a machine: docs/models.md, "CPU".
#include <algorithm>

#include "foretrain/cost/families.h"
#include "foretrain/cost/update.h"

namespace foretrain::cost {
namespace {

using graph::Family;
using graph::Kind;
using graph::NodeView;
using graph::Work;

constexpr double kOverhead = 7e-6;   // s per operator: dispatch and waking threads
constexpr double kGemmShare = 0.75;  // of the peak, large products
constexpr double kConvShare = 0.55;  // likewise, convolutions
constexpr double kAttentionShare = 0.4;
constexpr double kVectorShare = 0.25;  // element-wise arithmetic
constexpr double kRampFlops = 3e5;     // per core: product that reaches half of the share
constexpr double kCacheSpeed = 4;      // bandwidth of the last cache against memory's
constexpr double kFunctionFlops = 20;  // of an exponential, a hyperbolic tangent, a random number

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

bool has_function(Kind kind) {
  switch (kind) {
    case Kind::Gelu:
    case Kind::Silu:
    case Kind::Mish:
    case Kind::Sigmoid:
    case Kind::Tanh:
    case Kind::Softplus:
    case Kind::Exp:
    case Kind::Log:
    case Kind::Pow:
    case Kind::Erf:
    case Kind::Sin:
    case Kind::Cos:
    case Kind::Softmax:
    case Kind::LogSoftmax:
    case Kind::CrossEntropy:
    case Kind::Dropout:
      return true;
    default:
      return false;
  }
}

// What fits the cache moves faster; continuous and growing with the bytes.
double memory_time(double bytes, const Context& context) {
  const double beyond = (bytes - context.l2_bytes) / context.memory_bytes_per_s;
  return std::max(bytes / (kCacheSpeed * context.memory_bytes_per_s), beyond);
}

}  // namespace

OpTime cpu_time(const NodeView& v, const Work& work, const Context& context) {
  const Family family = graph::op(v.node).family;
  if (family == Family::View) return {};
  const double peak = std::max(1.0, context.device->fp32_flops_per_s);
  double compute =
      work.vector_flops * (has_function(v.node.kind) ? kFunctionFlops : 1) / (kVectorShare * peak);
  if (work.flops > 0) {
    compute += (work.flops + kRampFlops * context.sms) / (share_of(family) * peak);
  }
  double bytes = work.read_bytes + work.written_bytes;
  double calls = 1;
  if (family == Family::Update) {
    bytes = update_bytes(v, work, *context.framework);
    calls = update_launches(v, *context.framework);
  }
  const double memory = memory_time(bytes, context);
  return {Seconds{std::max(compute, memory) + calls * kOverhead}, Seconds{compute}, Seconds{memory},
          static_cast<int>(calls)};
}

}  // namespace foretrain::cost

// SPDX-License-Identifier: Apache-2.0
// PyTorch's operators on a CPU: a call, arithmetic, and passes over memory, one after the other,
// with numbers for each class of operator. docs/models/cpu.md.
#include "foretrain/cost/cpu.h"

#include <algorithm>
#include <cmath>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/update.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Extent;
using graph::Family;
using graph::Kind;
using graph::NodeView;
using graph::Work;

constexpr double kLeastShare = 1e-6;  // that divisions can bear

// What is to be done, and how fast such operators are.
struct Load {
  const CpuClass* speed = nullptr;
  double calls = 1;
  double flops = 0;
  double vector = 0;  // further operations, as if at the peak
  double bytes = 0;
  double rows_ns = 0;  // CpuConstants::row for each row
  bool cached = true;  // false: bytes are converted one by one, wherever they lie
  double fresh = 0;    // bytes of large buffers inside the operator
};

// Those of a result or buffer whose pages are new each time.
double fresh_bytes(double bytes, const CpuConstants& c) {
  return bytes > c.fresh_bytes ? bytes : 0;
}

double padded(double channels, const CpuConstants& c) {
  return std::max(1.0, std::ceil(channels / c.lanes)) * c.lanes;
}

bool has_function(Kind kind) {
  switch (kind) {
    case Kind::Gelu:
    case Kind::Silu:
    case Kind::Mish:
    case Kind::Sigmoid:
    case Kind::Tanh:
    case Kind::Softplus:
    case Kind::Elu:
    case Kind::Exp:
    case Kind::Log:
    case Kind::Pow:
    case Kind::Erf:
    case Kind::Sin:
    case Kind::Cos:
      return true;
    default:
      return false;
  }
}

// The operator whose gradient this is.
Kind original(const NodeView& v) {
  return static_cast<Kind>(v.attr(Attr::Of, static_cast<std::int64_t>(v.node.kind)));
}

double traffic(const Work& work) { return work.read_bytes + work.written_bytes; }

// Planes of an image tensor; 0 for others.
double planes(const Extent& e) {
  return e.rank > 2 ? static_cast<double>(e[0]) * static_cast<double>(e[1]) : 0;
}

// Shapes of a convolution or of one of its gradients.
struct ConvShape {
  double batch, groups, window;
  double in, out;  // channels of a group
  double side;     // of the window
  double in_side;  // of the image
  double out_side;
  bool gradient, strided;
};

ConvShape conv_shape(const NodeView& v) {
  const bool weight_grad = v.node.kind == Kind::ConvWeightGrad;
  const Extent& w = weight_grad ? v.out(0) : v.in(1);
  ConvShape s{};
  s.gradient = v.node.kind != Kind::Conv;
  s.batch = static_cast<double>(v.in(0)[0]);
  s.groups = static_cast<double>(v.attr(Attr::Groups, 1));
  s.in = static_cast<double>(w[1]);
  s.out = static_cast<double>(w[0]) / s.groups;
  s.side = w.rank > 2 ? static_cast<double>(w[2]) : 1;
  const Extent& x = s.gradient ? (weight_grad ? v.in(1) : v.out(0)) : v.in(0);
  const Extent& y = s.gradient ? v.in(0) : v.out(0);
  s.in_side = x.rank > 2 ? static_cast<double>(x[2]) : 1;
  s.out_side = y.rank > 2 ? static_cast<double>(y[2]) : 1;
  s.window = 1;
  for (int axis = 2; axis < w.rank; ++axis) s.window *= static_cast<double>(w[axis]);
  s.strided = v.attr(Attr::Stride, 1) > 1 || v.attr(Attr::Dilation, 1) > 1;
  return s;
}

Load conv_load(const NodeView& v, const Work& work, const CpuConstants& c) {
  const ConvShape s = conv_shape(v);
  Load load;
  load.flops = work.flops;
  load.bytes = traffic(work);
  const bool depthwise = s.groups > 1 && s.in == 1;
  if (s.window == 1 && !s.strided && s.groups == 1 && s.batch < c.plain_batch) {
    load.speed = s.gradient ? &c.plain_conv_grad : &c.plain_conv;
    load.calls = s.batch;
    const double weights = v.node.kind == Kind::ConvWeightGrad ? v.out_bytes(0) : v.in_bytes(1);
    load.bytes += (s.batch - 1) * weights;  // read again for each image
    return load;
  }
  load.cached = false;
  if (depthwise) {
    // Windows above 3x3, and those wider than the image, have no fast gradient; forward only those
    // that see a single output.
    const bool wide = s.side > c.fast_side;
    const bool slow = s.gradient ? wide || s.side > s.in_side : wide && s.out_side == 1;
    load.speed = !s.gradient ? &c.depthwise : slow ? &c.depthwise_wide_grad : &c.depthwise_grad;
    if (slow) load.rows_ns = s.batch * s.groups * c.reference;
    return load;
  }
  if (s.groups > 1) {
    load.speed = s.gradient ? &c.grouped_grad : &c.grouped;
  } else {
    load.speed = s.gradient ? &c.conv_grad : &c.conv;
  }
  const double in = padded(s.in, c);
  const double out = padded(s.out, c);
  load.flops *= in * out / (s.in * s.out);
  const double image = 4 * s.batch * s.groups;
  load.fresh = fresh_bytes(image * in * s.in_side * s.in_side, c) +
               fresh_bytes(image * out * s.out_side * s.out_side, c);
  return load;
}

// A GEMM per time step: the weights are read anew each time.
Load recurrent_load(const NodeView& v, const Work& work, const CpuConstants& c) {
  const bool gradient = v.node.kind == Kind::RecurrentGrad;
  const Extent& x = v.in(gradient ? 1 : 0);
  const bool batch_first = v.attr(Attr::BatchFirst, 0) != 0;
  const auto steps = static_cast<double>(x[batch_first ? 1 : 0]);
  double weights = 0;
  for (int i = gradient ? 2 : 1; i < v.inputs(); ++i) {
    if (v.in(i).rank == 2) weights += v.in_bytes(i);
  }
  Load load;
  const bool lstm = v.attr(Attr::Gates, 1) == 4;
  load.speed =
      lstm ? (gradient ? &c.lstm_grad : &c.lstm) : (gradient ? &c.recurrent_grad : &c.recurrent);
  load.calls = steps * static_cast<double>(v.attr(Attr::Layers, 1) * v.attr(Attr::Directions, 1));
  load.flops = work.flops;
  load.vector = work.vector_flops / std::max(c.recurrent_vector, kLeastShare);
  load.bytes = traffic(work) + steps * weights;
  return load;
}

Load norm_load(const NodeView& v, const Work& work, const CpuConstants& c) {
  const Kind kind = original(v);
  const bool gradient = v.node.kind == Kind::NormGrad;
  const bool batch = kind == Kind::BatchNorm;
  Load load;
  load.speed =
      batch ? (gradient ? &c.batch_norm_grad : &c.batch_norm) : (gradient ? &c.norm_grad : &c.norm);
  load.flops = work.vector_flops;
  load.bytes = traffic(work);
  const double rows = planes(v.in(0));
  const double plane = rows > 0 ? v.in_count(0) / rows : 0;
  const bool small = plane > 1 && plane < c.lanes;
  if (batch && !gradient) load.rows_ns = rows * c.row;
  if (batch && gradient && small) load.rows_ns = rows * c.row_grad;
  return load;
}

Load pool_load(const NodeView& v, const Work& work, const CpuConstants& c) {
  const bool gradient = v.node.kind == Kind::PoolGrad;
  const double results = gradient ? v.in_count(0) : v.out_count(0);
  const auto side = static_cast<double>(v.attr(Attr::Kernel, 1));
  Load load;
  const bool adaptive = original(v) == Kind::AdaptiveAvgPool;
  const bool average = original(v) == Kind::AvgPool;
  load.speed = adaptive   ? &c.reduction
               : average  ? &c.avg_pool
               : gradient ? &c.pool_grad
                          : &c.max_pool;
  load.flops =
      adaptive ? std::max(v.in_count(0), v.in_count(v.inputs() - 1)) : results * side * side;
  load.bytes = traffic(work);
  load.rows_ns = planes(v.in(0)) * c.row;
  return load;
}

Load attention_load(const NodeView& v, const Work& work, const CpuConstants& c) {
  Load load;
  load.speed = v.node.kind == Kind::Attention ? &c.attention : &c.attention_grad;
  load.flops = work.flops;
  load.bytes = traffic(work);
  return load;
}

Load memory_bound_load(const NodeView& v, const Work& work, const CpuConstants& c) {
  const Kind kind = original(v);
  const bool gradient = v.node.kind != kind;
  Load load;
  load.bytes = traffic(work);
  load.speed = &c.memory_bound;
  if (kind == Kind::Concat) {
    load.speed = &c.concat;
    load.calls = v.inputs();
  }
  const bool two = v.inputs() > 1 && !gradient && v.in_count(0) != v.in_count(1);
  if (two && graph::op(v.node).family == Family::Pointwise) load.speed = &c.broadcast;
  const bool random = kind == Kind::Dropout && !gradient;
  if (has_function(kind)) load.speed = gradient ? &c.function_grad : &c.function;
  if (random) load.speed = &c.random;
  if (has_function(kind) || random) load.flops = work.vector_flops;
  return load;
}

Load update_load(const NodeView& v, const Work& work, const Context& context) {
  Load load;
  load.speed = &context.model->constants.cpu.update;
  // Tensor by tensor: lists of tensors have no kernel of their own on a CPU.
  Framework each = *context.framework;
  each.update_tensors_per_launch = 1;
  load.calls = update_launches(v, each);
  load.flops = work.vector_flops;
  load.bytes = update_bytes(v, work, *context.framework);
  return load;
}

Load load_of(const NodeView& v, const Work& work, const Context& context) {
  const CpuConstants& c = context.model->constants.cpu;
  switch (graph::op(v.node).family) {
    case Family::Matrix:
      return {.speed = &c.gemm, .flops = work.flops, .bytes = traffic(work)};
    case Family::Convolution:
      return conv_load(v, work, c);
    case Family::Attention:
      return attention_load(v, work, c);
    case Family::Recurrent:
      return recurrent_load(v, work, c);
    case Family::Normalization:
      return norm_load(v, work, c);
    case Family::Pool:
      return pool_load(v, work, c);
    case Family::Reduction:
      return {.speed = &c.reduction, .flops = work.vector_flops, .bytes = traffic(work)};
    case Family::Loss:
      return {.speed = v.node.kind == Kind::LossGrad ? &c.loss_grad : &c.loss,
              .flops = work.vector_flops,
              .bytes = traffic(work)};
    case Family::Update:
      return update_load(v, work, context);
    default:
      if (v.node.kind == Kind::EmbeddingGrad)
        return {.speed = &c.embedding_grad, .bytes = traffic(work)};
      return memory_bound_load(v, work, c);
  }
}

// What fits the cache moves faster where an operator runs again and again; in a step others have
// used the cache meanwhile. Continuous and growing with the bytes.
double memory_time(double bytes, bool cached, const Context& context) {
  if (!cached || !context.repeated) return bytes / context.memory_bytes_per_s;
  const double beyond = (bytes - context.l2_bytes) / context.memory_bytes_per_s;
  const double speed = context.model->constants.cpu.cache_speed;
  return std::max(bytes / (speed * context.memory_bytes_per_s), beyond);
}

// Large results and buffers are new each time: the system hands out their pages one by one.
double fresh_time(const NodeView& v, const Load& load, const Context& context) {
  if (graph::op(v.node).family == Family::Update) return 0;
  const CpuConstants& c = context.model->constants.cpu;
  double bytes = load.fresh;
  for (int i = 0; i < v.outputs(); ++i) {
    bytes += fresh_bytes(v.out_bytes(i), c);
  }
  if (v.node.kind == Kind::LossGrad) bytes *= 2;  // of the chosen values, then of all
  return bytes * 1e-9 * c.fresh;
}

}  // namespace

double cpu_call_factor(const hw::Device& cpu, const CpuConstants& constants) {
  const double counted_hz = 1e9 * constants.clock;
  return counted_hz / cpu.boost_clock_hz.value_or(counted_hz);
}

OpTime cpu_time(const NodeView& v, const Work& work, const Context& context) {
  const CpuConstants& c = context.model->constants.cpu;
  const double slower = cpu_call_factor(*context.device, c);
  if (graph::op(v.node).family == Family::View) return {Seconds{c.view * 1e-6 * slower}, {}, {}, 1};
  const double peak = std::max(1.0, context.device->fp32_flops_per_s);
  const Load load = load_of(v, work, context);
  const auto& [call, rate, bandwidth] = *load.speed;
  const double compute = (load.flops / std::max(rate, kLeastShare) + load.vector) / peak;
  const double memory =
      memory_time(load.bytes, load.cached, context) / std::max(bandwidth, kLeastShare) +
      fresh_time(v, load, context);
  const double calls = (load.calls * call * 1e-6 + load.rows_ns * 1e-9) * slower;
  return {Seconds{compute + memory + calls}, Seconds{compute + calls}, Seconds{memory},
          static_cast<int>(load.calls)};
}

}  // namespace foretrain::cost

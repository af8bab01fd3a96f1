// SPDX-License-Identifier: Apache-2.0
// Operators that are memory-bound, the slope of a roofline: time = bytes / sustained bandwidth + a
// launch. The bytes are the operator's own (graph::Work) times what eager kernels move beyond them.
#include <algorithm>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/update.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;
using graph::NodeView;
using graph::Work;

Kind of(const NodeView& v) {
  return static_cast<Kind>(v.attr(Attr::Of, static_cast<std::int64_t>(Kind::Opaque)));
}

// Share of rows that a second reading does not find in the L2 when every multiprocessor holds
// `rows` of them: 1 / (1 + (miss / u)^4), u = SMs * rows * row bytes / L2.
double miss(double row_bytes, double rows, const Context& context) {
  const double u = context.sms * rows * row_bytes;
  const double limit = context.model->constants.memory_bound.miss * context.l2_bytes;
  const double u4 = u * u * u * u;
  const double limit4 = limit * limit * limit * limit;
  return u4 > 0 ? u4 / (u4 + limit4) : 0;
}

double last(const NodeView& v, int i) {
  const graph::Extent& extent = v.in(i);
  return extent.rank == 0 ? 1 : static_cast<double>(extent.from_end(1));
}

// Rows longer than this are read from memory twice more: no fit, but the limit of PyTorch's
// softmax that holds a row in registers (PersistentSoftmax.cuh).
constexpr double kSoftmaxRow = 1024;

const MemoryBoundConstants& constants(const Context& context) {
  return context.model->constants.memory_bound;
}

bool narrow(DType type) { return bytes_of(type) <= 2; }

double softmax_bytes(const NodeView& v, double bytes, const Context& context) {
  if (context.generation == Generation::Cdna) bytes *= constants(context).softmax_cdna;
  const double row = last(v, 0);
  if (row <= kSoftmaxRow) return bytes;
  const double row_bytes = row * bytes_of(v.in_type(0));
  return bytes + 2 * v.in_bytes(0) * miss(row_bytes, constants(context).softmax_rows, context);
}

// Eager PyTorch multiplies gradient and output first: six passes in place of three.
double softmax_grad_bytes(const NodeView& v, double bytes, const Context& context) {
  if (of(v) == Kind::Softmax && !context.framework->fused_softmax) bytes *= 2;
  return softmax_bytes(v, bytes, context);
}

// In 16 bits the kernels are bound by instructions, not bytes; backward until the kernels that
// came with Hopper.
double layer_norm_bytes(const NodeView& v, double bytes, const Context& context) {
  if (context.generation == Generation::Cdna) bytes *= constants(context).norm_cdna;
  if (narrow(v.in_type(0))) return constants(context).norm_half * bytes;
  const double row = last(v, 0) * bytes_of(v.in_type(0));
  return bytes + v.in_bytes(0) * miss(row, constants(context).norm_rows, context);
}

// Eager frameworks have no kernel for it: powers, means and multiplications one after another, in
// fp32 whatever the input is.
bool eager(const Context& context) { return context.framework->fusion == graph::Fusion::None; }

double rms_norm_bytes(const NodeView& v, double bytes, const Context& context) {
  if (eager(context)) return constants(context).rms * v.in_count(0);
  return layer_norm_bytes(v, bytes, context);
}

// Whether a batch norm or its gradient runs one block of threads per channel: what is not stored
// channels last, in frameworks that do not fuse it.
bool by_channel(const NodeView& v, const Context& context) {
  const bool last = context.framework->channels_last && narrow(v.in_type(0));
  return eager(context) && !last;
}

// PyTorch hands a batch norm to cuDNN only if its weight is fp32.
bool own_kernel(const NodeView& v) {
  const int weight = v.node.kind == Kind::NormGrad ? 3 : 1;
  return v.inputs() > weight && narrow(v.in_type(weight));
}

// cuDNN's in 16 bits, NCHW: likewise bound by instructions, of which wide multiprocessors have
// enough. In NHWC its kernels hold values there from one pass to the next.
double batch_norm_bytes(const NodeView& v, double bytes, const Context& context) {
  const MemoryBoundConstants& c = constants(context);
  if (!narrow(v.in_type(0)) || !eager(context) || own_kernel(v)) return bytes;
  if (!context.wide_sms) return by_channel(v, context) ? c.batch_norm_half * bytes : bytes;
  if (by_channel(v, context) || v.attr(Attr::Frozen, 0) != 0) return bytes;
  return (v.node.kind == Kind::NormGrad ? c.batch_norm_last_grad : c.batch_norm_last) * bytes;
}

bool is_batch_norm(const NodeView& v) {
  return (v.node.kind == Kind::NormGrad ? of(v) : v.node.kind) == Kind::BatchNorm;
}

// A block visits the values of its channel one after another, and few channels leave most
// multiprocessors idle:
//
//   t = values of a channel * ns * max(1, channels / blocks that run at once)
//
// Source of the form: PyTorch, Normalization.cuh; cuDNN's kernels behave alike.
double channel_time(const NodeView& v, const Context& context) {
  if (!is_batch_norm(v) || !by_channel(v, context) || v.attr(Attr::Frozen, 0) != 0) return 0;
  const bool grad = v.node.kind == Kind::NormGrad;
  const int x = grad ? 1 : 0;
  const MemoryBoundConstants& c = constants(context);
  const double own = grad ? c.batch_norm_own_grad : c.batch_norm_own;
  const double library = grad ? c.batch_norm_grad : c.batch_norm;
  const double each = 1e-9 * (own_kernel(v) ? own : library);
  return each * v.in_count(x) / std::min(static_cast<double>(v.in(x)[1]), context.blocks);
}

// Old kernels of PyTorch give each row to a block of threads, forward and in the gradient of the
// input, and reduce within it: that takes the same time for rows of 64 values as of 1,024.
double row_time(const NodeView& v, const Context& context) {
  const bool grad = v.node.kind == Kind::NormGrad;
  const bool is_layer_norm = (grad ? of(v) : v.node.kind) == Kind::LayerNorm;
  if (!context.framework->slow_layer_norm || !is_layer_norm) return 0;
  const int x = grad ? 1 : 0;
  double row = 1;  // values: a row may span several axes
  for (int back = 1; back <= std::min<int>(v.in(x).rank, static_cast<int>(v.attr(Attr::Axes, 1)));
       ++back) {
    row *= static_cast<double>(v.in(x).from_end(back));
  }
  return 1e-6 * constants(context).norm_row_us * v.in_count(x) / row / context.sms;
}

double norm_grad_bytes(const NodeView& v, double bytes, const Context& context) {
  const Kind kind = of(v);
  if (kind == Kind::BatchNorm) return batch_norm_bytes(v, bytes, context);
  if (kind == Kind::RmsNorm && eager(context)) return constants(context).rms_grad * v.in_count(0);
  if (kind == Kind::LayerNorm && context.generation == Generation::Cdna)
    bytes *= constants(context).norm_cdna;
  const bool slow =
      kind == Kind::LayerNorm && narrow(v.in_type(0)) && context.generation < Generation::Hopper;
  return slow ? constants(context).norm_half_grad * bytes : bytes;
}

// Times the traffic that the operator itself needs.
double factor(const NodeView& v, const MemoryBoundConstants& c) {
  switch (v.node.kind) {
    case Kind::MaxPool:
      return c.max_pool;
    case Kind::PoolGrad:
      return of(v) == Kind::MaxPool ? c.max_pool : 1;
    case Kind::LossGrad:
      return c.loss_grad;
    case Kind::Dequantize:  // into bytes or integers it is a shift
      return v.in_type(0) == DType::NF4 && is_floating(v.out_type(0)) ? c.dequantize_4bit : 1;
    case Kind::UpsampleGrad:
    case Kind::GatherGrad:
      return c.scatter_grad;
    case Kind::TopK:
      return c.top_k;
    case Kind::Gelu:
      return narrow(v.in_type(0)) ? c.gelu_half : 1;
    case Kind::PointwiseGrad:
      if (of(v) == Kind::Gelu) return narrow(v.in_type(0)) ? c.gelu_half_grad : 1;
      if (of(v) == Kind::Pow) return c.pow_grad;
      if (of(v) == Kind::Maximum || of(v) == Kind::Minimum) return c.maximum_grad;
      return 1;
    default:
      return 1;
  }
}

// Passes over the tensor where a framework builds these from elementary operators; 0: as else.
// Source: TensorFlow's BERT (docs/models/frameworks.md).
double composed_passes(const NodeView& v, const MemoryBoundConstants& c) {
  const bool backward = v.node.kind == Kind::PointwiseGrad || v.node.kind == Kind::NormGrad;
  switch (backward ? of(v) : v.node.kind) {
    case Kind::Gelu:
      return backward ? c.composed_gelu_grad : c.composed_gelu;
    case Kind::LayerNorm:
      return backward ? c.composed_norm_grad : c.composed_norm;
    case Kind::Dropout:
      return backward ? c.composed_dropout_grad : c.composed_dropout;
    default:
      return 0;
  }
}

// A compiler's cross entropy; those that are written by hand pass over the logits as often as an
// eager one.
bool compiled_loss(const NodeView& v, const Context& context) {
  const bool loss = v.node.kind == Kind::CrossEntropy ||
                    (v.node.kind == Kind::LossGrad && of(v) == Kind::CrossEntropy);
  return loss && context.framework->fused_loss &&
         context.framework->fusion == graph::Fusion::Pointwise;
}

// One kernel reads the logits and keeps a number of each row; another one reads them again and
// writes their gradient. No log-probabilities are kept.
double compiled_loss_bytes(const NodeView& v, double bytes) {
  return v.node.kind == Kind::CrossEntropy ? bytes - v.out_bytes(1) : bytes;
}

double moved_bytes(const NodeView& v, const Work& work, const Context& context) {
  const double bytes = work.read_bytes + work.written_bytes;
  if (compiled_loss(v, context)) return compiled_loss_bytes(v, bytes);
  if (context.framework->composed) {
    const double passes = composed_passes(v, constants(context));
    if (passes > 0) return passes * v.in_bytes(0);
  }
  switch (v.node.kind) {
    case Kind::Softmax:
    case Kind::LogSoftmax:
    case Kind::CrossEntropy:
      return softmax_bytes(v, bytes, context);
    case Kind::SoftmaxGrad:
      return softmax_grad_bytes(v, bytes, context);
    case Kind::BatchNorm:
      return batch_norm_bytes(v, bytes, context);
    case Kind::LayerNorm:
      return layer_norm_bytes(v, bytes, context);
    case Kind::RmsNorm:
      return rms_norm_bytes(v, bytes, context);
    case Kind::NormGrad:
      return norm_grad_bytes(v, bytes, context);
    case Kind::SliceGrad:  // the rest is filled with zeros first
      return bytes + v.in_bytes(0);
    default:
      return bytes * factor(v, constants(context));
  }
}

// How much faster than memory the last cache of a graphics board is; 0: as for the others, whose
// constants were chosen without. RX 6800: 1.9 against 0.51 TB/s, recalled from AMD's figures. From
// Ada on: an L40 moves 5.2 TB/s within 89 MB, 0.86 beyond (public stream kernels).
double cache_speed(const Context& context) {
  if (context.generation == Generation::Rdna) return 3.8;
  const bool large =
      context.generation == Generation::Ada || context.generation == Generation::Blackwell;
  return large && context.device->memory_type.starts_with("gddr") ? 6 : 0;
}

// Of what an operator moves, graphics boards find a part in their last cache. Its operands and
// results share it: the larger they are, the less is still there.
double served_by_cache(double bytes, const Context& context) {
  const double speed = cache_speed(context);
  if (speed <= 0 || context.l2_bytes <= 0) return bytes;
  const double miss = bytes / (bytes + context.l2_bytes);
  return bytes * (miss + (1 - miss) / speed);
}

// A gradient of an embedding sorts its indices when there are many: small kernels that read and
// write pairs of key and position, 8 bytes each, several times.
// Source of the form: PyTorch, EmbeddingBackwardKernel.
void add_sort(const NodeView& v, OpTime& time, const Context& context) {
  constexpr double kPairBytes = 16;
  const MemoryBoundConstants& c = constants(context);
  const double indices = v.in_count(1);
  if (indices <= c.unsorted) return;
  const Seconds sort{c.sort_passes * 2 * kPairBytes * indices / context.memory_bytes_per_s +
                     c.sort_kernels * context.launch_s};
  time.total += sort;
  time.memory += sort;
  time.kernels += static_cast<int>(c.sort_kernels);
}

// What a framework's hook does with the gradient that is added.
void add_hook(const NodeView& v, OpTime& time, const Context& context) {
  const TensorWork& hook = context.framework->statistics.hook;
  const Seconds moved{hook.values * v.out_bytes(0) / context.memory_bytes_per_s};
  time.kernels += static_cast<int>(hook.operators);
  time.memory += moved;
  time.total += moved + Seconds{hook.operators * context.launch_s};
}

// Cross entropies that a training loop computes once more from the logits to report them: autocast
// casts 16-bit ones to fp32, log-softmax reads and writes that, and a kernel picks the labels.
void add_metrics(const NodeView& v, OpTime& time, const Context& context) {
  const double metrics = context.framework->loss_metrics;
  const double values = v.in_count(0);
  const bool casts = narrow(v.in_type(0));
  const double bytes = 2 * 4 * values + (casts ? v.in_bytes(0) + 4 * values : 0);
  const int kernels = casts ? 3 : 2;
  const Seconds moved{metrics * bytes / context.memory_bytes_per_s};
  time.kernels += static_cast<int>(metrics) * kernels;
  time.memory += moved;
  time.total += moved + Seconds{metrics * kernels * context.launch_s};
}

int kernels_of(Kind kind) {
  switch (kind) {
    case Kind::CrossEntropy:
    case Kind::LossGrad:
    case Kind::SoftmaxGrad:
    case Kind::NormGrad:
    case Kind::SliceGrad:
    case Kind::EmbeddingGrad:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

OpTime memory_bound_time(const NodeView& v, const Work& work, const Context& context) {
  OpTime time;
  time.kernels = kernels_of(v.node.kind);
  const double bytes = served_by_cache(moved_bytes(v, work, context), context);
  time.memory = Seconds{std::max(bytes / context.memory_bytes_per_s, channel_time(v, context))};
  if (context.half_values_per_s > 0 && v.inputs() > 0 && narrow(v.in_type(0))) {
    time.memory = std::max(time.memory, Seconds{bytes / 2 / context.half_values_per_s});
  }
  time.memory += Seconds{row_time(v, context)};
  time.compute = Seconds{work.vector_flops / context.vector_flops_per_s};
  time.total = std::max(time.memory, time.compute) + Seconds{time.kernels * context.launch_s};
  if (v.node.kind == Kind::EmbeddingGrad) add_sort(v, time, context);
  if (adds_to_parameter(v)) add_hook(v, time, context);
  if (v.node.kind == Kind::CrossEntropy) add_metrics(v, time, context);
  return time;
}

}  // namespace foretrain::cost

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace foretrain::graph {

// Every operator. What is true of each is its row in op_table.cc; the order is the same.
enum class Kind : std::uint8_t {
  // Views: no kernel, the output is the input's memory.
  Reshape,
  Transpose,
  Slice,
  Split,
  Expand,
  Identity,
  Detach,
  // Copies.
  Contiguous,
  Concat,
  Pad,
  Cast,
  Dequantize,
  Gather,
  Upsample,
  Roll,
  // GEMMs.
  Linear,
  MatMul,
  Conv,
  Attention,
  Recurrent,
  // Look-up.
  Embedding,
  // Element by element, one tensor.
  Relu,
  Relu6,
  LeakyRelu,
  Gelu,
  Silu,
  Mish,
  Sigmoid,
  HardSigmoid,
  HardSwish,
  Tanh,
  Softplus,
  Elu,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Pow,
  Neg,
  Abs,
  Erf,
  Sin,
  Cos,
  Scale,
  Shift,
  Clip,
  // Element by element, several tensors.
  Add,
  Sub,
  Mul,
  Div,
  Maximum,
  Minimum,
  Where,
  Compare,
  Dropout,
  // Along axes.
  Softmax,
  LogSoftmax,
  BatchNorm,
  LayerNorm,
  RmsNorm,
  GroupNorm,
  Sum,
  Mean,
  ArgMax,
  TopK,
  CumSum,
  MaxPool,
  AvgPool,
  AdaptiveAvgPool,
  // Losses: a scalar from predictions and targets.
  CrossEntropy,
  PointwiseLoss,
  // Gradients that are operators of their own.
  ConvInputGrad,
  ConvWeightGrad,
  AttentionGrad,
  RecurrentGrad,
  EmbeddingGrad,
  PointwiseGrad,
  SoftmaxGrad,
  NormGrad,
  PoolGrad,
  UpsampleGrad,
  GatherGrad,
  SliceGrad,
  LossGrad,
  SumTo,
  Fill,
  // The optimizer.
  Update,
  ZeroGrad,
  // Communication: what a parallel strategy adds. See parallel/.
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Reduce,
  Pull,
  Push,
  ServerUpdate,
  // Between the stages of a pipeline: activations to the next one, their gradients back.
  Send,
  Receive,
  // Others.
  Fused,
  Opaque,
  CollectivePermute,  // communication: each rank sends to the next one of a ring
};

inline constexpr int kKinds = static_cast<int>(Kind::CollectivePermute) + 1;

}  // namespace foretrain::graph

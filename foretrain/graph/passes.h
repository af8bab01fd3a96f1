// SPDX-License-Identifier: Apache-2.0
// Passes over a model's forward graph and over the whole step. Each takes a graph and returns
// a new one.
#pragma once

#include <string>

#include "foretrain/base/precision.h"
#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Throws Error(BadInput) naming the node when the graph is not well formed: an id out of
// range, a tensor written twice or read before it is written (which a cycle amounts to), a
// shape that its operator would not infer (of a backward node: too few tensors, or of another
// rank), a loss that is not a single number, a gradient that fits no trainable parameter.
void verify(const Graph& graph);

// Throws Error(BadInput) when the graph is not a model's forward pass alone.
void require_forward(const Graph& graph);

// How a framework stores tensors in half precision.
enum class Casting {
  Automatic,   // fp32 parameters; inputs of GEMMs are cast, norms and losses run in fp32
  HalfNorms,   // likewise, but layer norms run in half precision
  WholeModel,  // parameters and activations are stored in 16 bits; only losses run in fp32
};

// Gives every tensor the type that it has under `precision` and adds the casts.
Graph set_precision(const Graph& model, Precision precision, Casting casting);

// Gives every floating-point parameter the type that half precision computes in; what is computed
// from them follows with `set_precision`.
Graph with_half_parameters(Graph model, Precision precision);

// Replaces each attention by the GEMMs, mask, softmax and dropout that it stands for.
Graph expand_attention(const Graph& model);

// What is trained: everything, the last GEMM's parameters, or two thin GEMMs of `rank` beside
// every linear layer (LoRA).
struct Trainable {
  enum class Part : std::uint8_t { All, Head, Lora };
  Part part = Part::All;
  std::int64_t rank = 0;
  bool operator==(const Trainable&) const = default;
};

// "all", "head" or "lora:rank=R". Throws Error(BadInput) for anything else.
Trainable parse_trainable(const std::string& text);

// Marks what is trained. Throws Error(BadInput) where the model has no such part.
Graph set_trainable(Graph model, const Trainable& what);

// What inference runs: nothing that only the loss needs, no dropout, batch norm with its
// running statistics.
Graph for_inference(const Graph& model);

// What a framework's compiler merges into one kernel.
enum class Fusion {
  None,
  NormActivation,  // batch or group norm with the addition and activation that follow
  Pointwise,       // chains of element-wise operators, norms and softmaxes
};

// Merges neighbours where the values between them are used by nobody else before the merged
// kernel ends; runs over the whole step.
Graph fuse(const Graph& step, Fusion fusion);

}  // namespace foretrain::graph

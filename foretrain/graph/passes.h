// SPDX-License-Identifier: Apache-2.0
// Passes over a model's forward graph and over the whole step. Each takes a graph and returns
// a new one.
#pragma once

#include <string>
#include <vector>

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

// Gives every tensor the type that it has under `precision` and adds the casts. With `half_loss` a
// fused cross entropy reads 16-bit logits as they are.
Graph set_precision(const Graph& model, Precision precision, Casting casting,
                    bool half_loss = false);

// Gives every floating-point parameter the type that half precision computes in; what is computed
// from them follows with `set_precision`.
Graph with_half_parameters(Graph model, Precision precision);

// How a model's tensors are stored where its parameters are not in fp32.
struct WeightStorage {
  Weights weights = Weights::Bf16;
  DType type = DType::BF16;            // of everything that is computed
  bool adapters = false;               // what is trained are adapters
  DType adapter = DType::F32;          // their type
  bool elementary_norms = true;        // RMS norms and losses run as PyTorch's operators, in fp32
  bool half_loss = false;              // the loss reads 16-bit logits as they are
  bool quantised_head = false;         // the last layer is quantised, too
  bool dequantises_in_fp16 = false;    // then casts
  bool autocast_adapters = false;      // in fp32, they are multiplied in 16 bits
  bool elementary_dequantise = false;  // operators unpack weights one after the other
  bool single_scales = false;          // those of 4-bit weights in fp32, one for 64 values
};

// Stores parameters and activations in `type` without any casts but those that Hugging Face's
// models and PEFT make themselves: RMS norms and losses compute in fp32, an adapter in its own
// type. Quantised weights: those of frozen linear layers but the last are kept in 8 or 4 bits with
// their scales and dequantised at every use; `backward` does so again, and keeps what the layer
// read (as bitsandbytes does).
Graph store_weights(const Graph& model, const WeightStorage& storage);

// Replaces each attention by the GEMMs, mask, softmax and dropout that it stands for.
Graph expand_attention(const Graph& model);

// What is trained: everything, the last GEMM's parameters, or two thin GEMMs of `rank` beside
// linear layers (LoRA).
struct Trainable {
  enum class Part : std::uint8_t { All, Head, Lora };
  Part part = Part::All;
  std::int64_t rank = 0;
  // Linear layers that get adapters, by the end of their path ("q_proj"), or "attention", those
  // of attention, or "blocks", all but the last layer. Empty: every one.
  std::vector<std::string> targets{};
  DType type = DType::F32;  // of the adapters, where the other parameters are not in fp32
  bool dropout = false;     // of what the adapters read
  bool operator==(const Trainable&) const = default;
};

// "all", "head" or "lora:rank=R" with, after commas, "targets=q_proj+v_proj", "dtype=bf16" and
// "dropout=0.05".
// Throws Error(BadInput) for anything else.
Trainable parse_trainable(const std::string& text);

// Makes one linear layer, "qkv_proj", of the neighbours "q_proj", "k_proj" and "v_proj" that read
// the same tensor; what they wrote are views of its output, which therefore lives as long as any of
// them.
Graph join_projections(const Graph& model);

// Marks what is trained. Throws Error(BadInput) where the model has no such part. With
// `joint_attention` the adapters of a joint layer of queries, keys and values ("qkv_proj" or
// "query_key_value", which then is meant by "q_proj", "k_proj" and "v_proj", too) are one, as
// LitGPT's are: one dropout, a GEMM, a grouped convolution, and, unless all three are adapted,
// zeros into which its result is copied.
Graph set_trainable(Graph model, const Trainable& what, bool joint_attention = false);

// What inference runs: nothing that only the loss needs, no dropout, batch norm with its
// running statistics.
Graph for_inference(const Graph& model);

// What a framework's compiler merges into one kernel.
enum class Fusion {
  None,
  NormActivation,  // batch or group norm with the addition and activation that follow
  Pointwise,       // chains of element-wise operators, norms and softmaxes
  Handwritten,     // chains of element-wise operators; scale, mask and softmax; norms alone
};

// Merges neighbours where the values between them are used by nobody else before the merged
// kernel ends; runs over the whole step.
Graph fuse(const Graph& step, Fusion fusion);

}  // namespace foretrain::graph

// SPDX-License-Identifier: Apache-2.0
// Layers that sequence models are made of, as PyTorch runs them in eager mode; beside those of
// layers.h and in the same manner.
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/layers.h"

namespace foretrain::zoo {

// Throws Error(BadInput) naming the model unless every head is as wide as the others.
void require_heads(const Spec& spec, std::int64_t hidden, std::int64_t heads);

// Without bias; `linear` of layers.h has one. Hugging Face's Conv1D, which stores its weight the
// other way round, is the same product.
graph::TensorId linear_unbiased(graph::Builder& builder, const std::string& name, graph::TensorId x,
                                std::int64_t features);

// Looks up `tokens` in a new table of [rows, width]. `table`, if given, receives it, to be tied
// to the layer that predicts tokens.
graph::TensorId embed(graph::Builder& builder, const std::string& name, graph::TensorId tokens,
                      std::int64_t rows, std::int64_t width, graph::TensorId* table = nullptr);

// Rows of a position table: `usual`, or `seq` where that is more, which is noted.
std::int64_t position_rows(graph::Builder& builder, std::int64_t usual, std::int64_t seq);

// Rows 0 to seq - 1 of a learned table of [rows, width], as [1, seq, width].
graph::TensorId embed_positions(graph::Builder& builder, const std::string& name, std::int64_t rows,
                                std::int64_t seq, std::int64_t width);

// Adds such vectors to x of [batch, seq, width], from a table with rows for `positions` (or for
// seq, see above) after `unused` ones that no position takes.
graph::TensorId add_positions(graph::Builder& builder, const std::string& name, graph::TensorId x,
                              std::int64_t positions, std::int64_t unused = 0);

// The pixels' patches of `size` x `size` as tokens of [batch, 1 + patches, width] by a convolution
// called `projection`, after a learned one called `token`.
graph::TensorId patch_tokens(graph::Builder& builder, const std::string& projection,
                             const std::string& token, graph::TensorId pixels, std::int64_t size,
                             std::int64_t width);
// The first token's vector: [batch, width] of [batch, seq, width].
graph::TensorId first_token(graph::Builder& builder, graph::TensorId x);

graph::TensorId layer_norm(graph::Builder& builder, const std::string& name, graph::TensorId x);
graph::TensorId rms_norm(graph::Builder& builder, const std::string& name, graph::TensorId x);

// [batch, seq, heads * size] as [batch, heads, seq, size], a view; and back, which copies.
graph::TensorId split_heads(graph::Builder& builder, graph::TensorId x, std::int64_t heads);
graph::TensorId merge_heads(graph::Builder& builder, graph::TensorId x);

struct AttentionForm {
  bool causal = false;
  bool mask = false;     // a mask of padding is added to the scores
  bool dropout = false;  // of the probabilities
};

// Softmax(q k^T / sqrt(size)) v of [batch, heads, seq, size] each; q may have more heads.
graph::TensorId attend(graph::Builder& builder, graph::TensorId q, graph::TensorId k,
                       graph::TensorId v, const AttentionForm& form);

// Self-attention whose queries, keys and values come from one projection called `in`; `out` leads
// back to the width of x.
graph::TensorId attend_jointly(graph::Builder& builder, graph::TensorId x, std::int64_t heads,
                               const std::string& in, const std::string& out,
                               const AttentionForm& form);

// Names of projections.
struct Projections {
  const char* query;
  const char* key;
  const char* value;
};
// Attention of x to `source` whose queries, keys and values each come from a projection of their
// own, as wide as x: the heads side by side, [batch, seq, width], before any last projection.
graph::TensorId attend_apart(graph::Builder& builder, graph::TensorId x, graph::TensorId source,
                             std::int64_t heads, const Projections& names,
                             const AttentionForm& form);

// The approximation of GELU by tanh, as Hugging Face's gelu_new computes it: eight kernels.
graph::TensorId gelu_tanh(graph::Builder& builder, graph::TensorId x);

// Cross entropy over every token: logits [batch, seq, classes], targets [batch, seq].
graph::TensorId token_cross_entropy(graph::Builder& builder, graph::TensorId logits,
                                    graph::TensorId targets);

// Ends a model that predicts tokens: its logits are the output, their cross entropy against the
// input `labels` the loss.
graph::Graph finish_tokens(graph::Builder& builder, graph::TensorId logits,
                           const std::string& labels);

// Ends one likewise from its last vectors x of [batch, seq, width]: logits by the layer `head`,
// with `table` of [vocab, width] or, where that is not tied, a table of its own.
graph::Graph finish_language_model(graph::Builder& builder, graph::TensorId x,
                                   const std::string& head, graph::TensorId table,
                                   bool tied = true);

}  // namespace foretrain::zoo

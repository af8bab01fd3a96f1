// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/spec.h"
#include "foretrain/zoo/language/transformer_size.h"

namespace foretrain::zoo {

// The encoder of BERT and of what was trained like it.
struct BertEncoder : TransformerSize {
  std::int64_t unused_positions = 0;  // rows in front that no position takes
  std::int64_t segments = 2;          // rows of the token type table
};

// Takes seq, vocab, layers, hidden, heads, ffn, positions, segments and act where they are given.
BertEncoder take_encoder(Spec& spec, BertEncoder usual);

// "seq=512, vocab=30522, ...": those parameters with their values, for the catalog.
std::string describe_encoder(const BertEncoder& usual);

struct Encoded {
  graph::TensorId sequence;    // [batch, seq, hidden]
  graph::TensorId word_table;  // [vocab, hidden]
};

Encoded encode_bert(graph::Builder& builder, const BertEncoder& size);

// The layers alone, over x [batch, seq, hidden].
graph::TensorId run_bert_layers(graph::Builder& builder, graph::TensorId x,
                                const BertEncoder& size);

// The first token's vector through a layer of its own: [batch, hidden].
graph::TensorId pool_first(graph::Builder& builder, graph::TensorId sequence, std::int64_t hidden);

// Logits of every token; the decoder is the word table, with a bias of its own.
graph::TensorId predict_words(graph::Builder& builder, graph::TensorId x, graph::TensorId table);

// Cross entropy of every token against the input "labels"; the logits are an output.
graph::TensorId word_loss(graph::Builder& builder, graph::TensorId logits);

// Two scores per token, the start and the end of the answer, and their loss.
void add_question_answering(graph::Builder& builder, graph::TensorId sequence);

// A loss over `labels` classes from [batch, hidden].
void add_classification(graph::Builder& builder, graph::TensorId pooled, std::int64_t labels);

}  // namespace foretrain::zoo

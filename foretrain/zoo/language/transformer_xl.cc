// SPDX-License-Identifier: Apache-2.0
// Transformer-XL, a decoder that also attends to what it computed for the segment before, with
// relative positions and an adaptive vocabulary. `transformer-xl-base` and `-large` are those of
// NVIDIA's DeepLearningExamples on WikiText-103 (the large one counts 247 M parameters without
// its tables), `transfo-xl-wt103` is Hugging Face's: the large one with biases per layer.
// Source: Dai et al., ACL 2019; NVIDIA DeepLearningExamples, mem_transformer.py.
#include <string>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/adaptive_vocabulary.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Size {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  std::int64_t divisor = 1;  // of the adaptive vocabulary
  std::int64_t seq = 0;
  std::int64_t memory = 0;  // tokens of the segment before
  bool shared_bias = true;  // of the queries: one for all layers
  std::int64_t head_size = 64;
};

// Words of WikiText-103, by frequency.
constexpr std::array<std::int64_t, kClusters> kClusterEnds{19997, 39997, 199997, 267735};

// What is added to the queries before they meet keys and distances.
struct QueryBias {
  TensorId content;   // r_w_bias
  TensorId distance;  // r_r_bias
};

QueryBias query_bias(Builder& builder, const Size& size) {
  const graph::Shape shape{size.heads, 1, size.head_size};
  return {builder.parameter("r_w_bias", shape), builder.parameter("r_r_bias", shape)};
}

// Scores by distance, [batch, heads, queries, distances], to scores by key: a column of zeros
// in front shifts each row by one more than the row before.
TensorId shift_rows(Builder& builder, TensorId x) {
  const graph::Shape shape = builder.shape(x);
  const std::int64_t queries = shape[2].factor;
  const std::int64_t keys = shape[3].factor;
  x = builder.add(Kind::Pad, {x}, Attributes{{Attr::Padding, {0, 0, 0, 1, 0, 0, 0, 0}}});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, keys + 1, queries}}});
  x = builder.add(Kind::Slice, {x}, Attributes{{Attr::Axis, {2}}, {Attr::Start, {1}}});
  return builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, queries, keys}}});
}

// The vectors of the last `seq` tokens.
TensorId latest(Builder& builder, TensorId x, const Size& size) {
  const std::int64_t length = builder.shape(x)[1].factor;
  if (length == size.seq) return x;
  return builder.add(Kind::Slice, {x},
                     Attributes{{Attr::Axis, {1}}, {Attr::Start, {length - size.seq}}});
}

TensorId relative_attention(Builder& builder, TensorId x, TensorId memory, TensorId distances,
                            const QueryBias& bias, const Size& size) {
  const std::int64_t inner = size.heads * size.head_size;
  const std::int64_t keys = size.seq + size.memory;
  const TensorId both =
      size.memory > 0 ? builder.add(Kind::Concat, {memory, x}, Attributes{{Attr::Axis, {1}}}) : x;
  const TensorId all = linear_unbiased(builder, "qkv_net", both, 3 * inner);
  const std::vector<TensorId> parts = builder.add_all(
      Kind::Split, {all}, Attributes{{Attr::Axis, {2}}, {Attr::Sizes, {inner, inner, inner}}});
  const TensorId q = split_heads(builder, latest(builder, parts[0], size), size.heads);
  const TensorId k = split_heads(builder, parts[1], size.heads);
  const TensorId v = split_heads(builder, parts[2], size.heads);
  const TensorId r =
      split_heads(builder, linear_unbiased(builder, "r_net", distances, inner), size.heads);

  const Attributes transposed{{Attr::TransposeB, {1}}};
  const TensorId by_content =
      builder.add(Kind::MatMul, {builder.add(Kind::Add, {q, bias.content}), k}, transposed);
  const TensorId by_distance =
      builder.add(Kind::MatMul, {builder.add(Kind::Add, {q, bias.distance}), r}, transposed);
  TensorId scores = builder.add(Kind::Add, {by_content, shift_rows(builder, by_distance)});
  scores = builder.add(Kind::Scale, {scores});
  const TensorId mask = builder.buffer("attn_mask", {1, 1, size.seq, keys}, DType::Bool);
  scores = builder.add(Kind::Where, {mask, scores});
  scores = builder.add(Kind::Softmax, {scores}, Attributes{{Attr::Axis, {-1}}});
  const TensorId weights = dropout(builder, "dropatt", scores);
  const TensorId attended = merge_heads(builder, builder.add(Kind::MatMul, {weights, v}));
  return dropout(builder, "drop", linear_unbiased(builder, "o_net", attended, size.hidden));
}

TensorId layer(Builder& builder, TensorId x, TensorId distances, const QueryBias* shared,
               const Size& size) {
  {
    const Scope scope(builder, "dec_attn");
    const QueryBias bias = shared != nullptr ? *shared : query_bias(builder, size);
    const TensorId memory =
        size.memory > 0 ? builder.buffer("mems", {builder.batch(), size.memory, size.hidden})
                        : TensorId{};
    const TensorId y = relative_attention(builder, x, memory, distances, bias, size);
    x = layer_norm(builder, "layer_norm", builder.add(Kind::Add, {x, y}));
  }
  const Scope scope(builder, "pos_ff");
  TensorId y = relu(builder, "CoreNet.1", linear(builder, "CoreNet.0", x, size.ffn));
  y = linear(builder, "CoreNet.3", dropout(builder, "CoreNet.2", y), size.hidden);
  y = dropout(builder, "CoreNet.4", y);
  return layer_norm(builder, "layer_norm", builder.add(Kind::Add, {x, y}));
}

graph::Graph build_model(const std::string& name, const Size& size) {
  Builder builder(name);
  const graph::Shape tokens{builder.batch(), size.seq};
  const AdaptiveVocabulary vocabulary{kClusterEnds, size.hidden, size.divisor};
  AdaptiveTables tables;
  const TensorId words =
      embed_adaptively(builder, builder.input("data", tokens, DType::I64), vocabulary, tables);
  TensorId x = dropout(builder, "drop", words);
  const TensorId sines = builder.buffer("pos_emb", {1, size.seq + size.memory, size.hidden});
  const TensorId distances = dropout(builder, "drop", sines);
  QueryBias shared{};
  if (size.shared_bias) shared = query_bias(builder, size);
  std::vector<TensorId> memory;
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    memory.push_back(x);
    x = layer(builder, x, distances, size.shared_bias ? &shared : nullptr, size);
  }
  x = dropout(builder, "drop", x);
  // The next segment's memory.
  if (size.memory > 0) {
    builder.output(builder.add(Kind::Concat, memory, Attributes{{Attr::Axis, {1}}}));
  }
  builder.loss(
      adaptive_loss(builder, x, builder.input("target", tokens, DType::I64), vocabulary, tables));
  builder.note("words fall into the clusters of the adaptive vocabulary by Zipf's law");
  return builder.finish();
}

struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"transformer-xl-base",
     "decoder of 16 layers, width 512, with memory, as NVIDIA's",
     {16, 512, 8, 2048, 1, 192, 192}},
    {"transformer-xl-large",
     "decoder of 18 layers, width 1024, with memory, as NVIDIA's",
     {18, 1024, 16, 4096, 4, 384, 384}},
    {"transfo-xl-wt103",
     "decoder of 18 layers, width 1024, with memory",
     {18, 1024, 16, 4096, 4, 128, 1600, false}},
};

graph::Graph build_transformer_xl(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.seq = spec.take("seq", size.seq, 16, 65536);
  size.memory = spec.take("memory", size.memory, 0, 65536);
  return build_model(spec.name(), size);
}

}  // namespace

std::vector<Entry> transformer_xl_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back({{named.name, "Transformer-XL", named.about,
                        "seq=" + std::to_string(named.size.seq) +
                            ", memory=" + std::to_string(named.size.memory)},
                       build_transformer_xl});
  }
  return entries;
}

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
// Source: Touvron et al., arXiv 2302.13971 and 2307.09288; transformers, modeling_llama.py,
// modeling_qwen2.py, modeling_qwen3.py and modeling_mixtral.py.
#include "foretrain/zoo/language/rotary_decoder.h"

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/language/rotary.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

TensorId project(Builder& builder, const char* name, TensorId x, std::int64_t features, bool bias) {
  return bias ? linear(builder, name, x, features) : linear_unbiased(builder, name, x, features);
}

// [batch, heads, seq, size] of a projection; `norm`, where given, normalizes each head.
TensorId heads_of(Builder& builder, TensorId x, std::int64_t heads, const char* norm) {
  if (norm == nullptr) return split_heads(builder, x, heads);
  const TensorId split =
      builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, heads, -1}}});
  return builder.add(Kind::Transpose, {rms_norm(builder, norm, split)},
                     Attributes{{Attr::Axes, {0, 2, 1, 3}}});
}

TensorId self_attention(Builder& builder, TensorId x, const Angles& angles,
                        const RotaryDecoder& model) {
  const Scope scope(builder, "self_attn");
  const auto heads = [&](const char* name, std::int64_t count, const char* norm) {
    const TensorId all = project(builder, name, x, count * model.head_size, model.qkv_bias);
    return heads_of(builder, all, count, model.qk_norm ? norm : nullptr);
  };
  const TensorId q = heads("q_proj", model.heads, "q_norm");
  const TensorId k = heads("k_proj", model.kv_heads, "k_norm");
  const TensorId v = split_heads(
      builder, project(builder, "v_proj", x, model.kv_heads * model.head_size, model.qkv_bias),
      model.kv_heads);
  const TensorId turned_q = rotate(builder, q, angles);
  const TensorId turned_k = rotate(builder, k, angles);
  const TensorId attended = attend(builder, turned_q, turned_k, v, {.causal = true});
  return project(builder, "o_proj", merge_heads(builder, attended), model.hidden, model.out_bias);
}

TensorId feed_forward(Builder& builder, TensorId x, const RotaryDecoder& model) {
  if (model.experts.count > 0) {
    return sparse_feed_forward(builder, x, model.experts, model.ffn, model.activation);
  }
  const Scope scope(builder, "mlp");
  const bool bias = model.mlp_bias;
  const TensorId gate =
      activate(builder, model.activation, project(builder, "gate_proj", x, model.ffn, bias));
  const TensorId up = project(builder, "up_proj", x, model.ffn, bias);
  return project(builder, "down_proj", builder.add(Kind::Mul, {gate, up}), model.hidden, bias);
}

TensorId layer(Builder& builder, TensorId x, const Angles& angles, const RotaryDecoder& model) {
  const TensorId normed = rms_norm(builder, "input_layernorm", x);
  const TensorId middle =
      builder.add(Kind::Add, {x, self_attention(builder, normed, angles, model)});
  const TensorId again = rms_norm(builder, "post_attention_layernorm", middle);
  return builder.add(Kind::Add, {middle, feed_forward(builder, again, model)});
}

void check(const std::string& name, const RotaryDecoder& model) {
  const auto require = [&name](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorKind::BadInput, "model '" + name + "': " + what);
  };
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  require(
      model.head_size > 0 || model.hidden % (2 * model.heads) == 0,
      "hidden=" + text(model.hidden) + " is not an even multiple of heads=" + text(model.heads));
  require(model.head_size % 2 == 0, "head_size=" + text(model.head_size) + " is odd");
  require(model.heads % model.kv_heads == 0,
          "kv_heads=" + text(model.kv_heads) + " does not divide heads=" + text(model.heads));
  require(model.experts.count == 0 || model.experts.active <= model.experts.count,
          "active=" + text(model.experts.active) +
              " is more than experts=" + text(model.experts.count));
}

graph::Graph build_checked(const std::string& name, const RotaryDecoder& model) {
  Builder builder(name);
  const TensorId ids = builder.input("input_ids", {builder.batch(), model.seq}, DType::I64);
  TensorId table{};
  builder.enter("model");
  TensorId x = embed(builder, "embed_tokens", ids, model.vocab, model.hidden, &table);
  const Angles angles = rotary_angles(builder, model.seq, model.head_size);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = layer(builder, x, angles, model);
  }
  x = rms_norm(builder, "norm", x);
  builder.leave();
  if (model.experts.count > 0) {
    builder.note("every expert takes the same share of the tokens, " +
                 std::to_string(tokens_per_expert(model.experts, model.seq)) +
                 " of each sequence: capacity factor 1, none dropped");
  }
  return finish_language_model(builder, x, "lm_head", table, model.tied);
}

}  // namespace

graph::Graph build_rotary_decoder(const std::string& name, const RotaryDecoder& model) {
  check(name, model);
  RotaryDecoder sized = model;
  if (sized.head_size == 0) sized.head_size = sized.hidden / sized.heads;
  return build_checked(name, sized);
}

}  // namespace foretrain::zoo

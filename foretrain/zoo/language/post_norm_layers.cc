// SPDX-License-Identifier: Apache-2.0
// Source: Vaswani et al., NeurIPS 2017; fairseq, transformer_layer.py.
#include "foretrain/zoo/language/post_norm_layers.h"

#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

namespace {

TensorId add_and_norm(Builder& builder, const std::string& norm, TensorId x, TensorId y,
                      const PostNormLayer& layer) {
  const TensorId sum = builder.add(Kind::Add, {x, dropout(builder, layer.dropout, y)});
  return layer_norm(builder, norm, sum);
}

TensorId attend_to(Builder& builder, const std::string& name, TensorId x, TensorId source,
                   const AttentionForm& form, const PostNormLayer& layer) {
  TensorId y{};
  {
    const Scope scope(builder, name);
    const std::int64_t hidden = builder.shape(x)[2].factor;
    y = attend_apart(builder, x, source, layer.heads, {"q_proj", "k_proj", "v_proj"}, form);
    y = linear(builder, "out_proj", y, hidden);
  }
  return add_and_norm(builder, name + "_layer_norm", x, y, layer);
}

TensorId feed_forward(Builder& builder, TensorId x, const PostNormLayer& layer) {
  return add_and_norm(builder, "final_layer_norm", x, layer.feed_forward(x), layer);
}

}  // namespace

TensorId run_encoder_layers(Builder& builder, TensorId x, std::int64_t layers,
                            const PostNormLayer& layer) {
  for (std::int64_t i = 0; i < layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = attend_to(builder, "self_attn", x, x, {.mask = true}, layer);
    x = feed_forward(builder, x, layer);
  }
  return x;
}

TensorId run_decoder_layers(Builder& builder, TensorId x, TensorId source, std::int64_t layers,
                            const PostNormLayer& layer) {
  for (std::int64_t i = 0; i < layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = attend_to(builder, "self_attn", x, x, {.causal = true}, layer);
    x = attend_to(builder, "encoder_attn", x, source, {.mask = true}, layer);
    x = feed_forward(builder, x, layer);
  }
  return x;
}

}  // namespace foretrain::zoo

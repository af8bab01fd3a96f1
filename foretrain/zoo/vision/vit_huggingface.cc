// SPDX-License-Identifier: Apache-2.0
// The vision transformer as Hugging Face's ViTForImageClassification runs it; torchvision's, in
// vit.cc, computes queries, keys and values in one GEMM.
// Source: Dosovitskiy et al., ICLR 2021; transformers, modeling_vit.py.
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Size {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t patch = 16;  // pixels on a side
  std::int64_t image = 224;
  std::int64_t ffn = 0;  // 0: 4 hidden
  std::int64_t channels = 3;
  std::int64_t classes = 1000;
  bool qkv_bias = true;
  std::string activation = "gelu";
};

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "attention");
  TensorId merged{};
  {
    const Scope inner(builder, "attention");
    const auto heads = [&](const char* name) {
      const TensorId all = size.qkv_bias ? linear(builder, name, x, size.hidden)
                                         : linear_unbiased(builder, name, x, size.hidden);
      return split_heads(builder, all, size.heads);
    };
    const TensorId q = heads("query");
    const TensorId k = heads("key");
    const TensorId v = heads("value");
    merged = merge_heads(builder, attend(builder, q, k, v, {}));
  }
  return linear(builder, "output.dense", merged, size.hidden);
}

TensorId layer(Builder& builder, TensorId x, const Size& size) {
  const TensorId attended =
      self_attention(builder, layer_norm(builder, "layernorm_before", x), size);
  const TensorId middle = builder.add(Kind::Add, {attended, x});
  TensorId y = layer_norm(builder, "layernorm_after", middle);
  y = activate(builder, size.activation, linear(builder, "intermediate.dense", y, size.ffn));
  y = linear(builder, "output.dense", y, size.hidden);
  return builder.add(Kind::Add, {y, middle});
}

// Patches as tokens, after the class token, with their positions.
TensorId embed_patches(Builder& builder, TensorId pixels, const Size& size) {
  const Scope scope(builder, "embeddings");
  const TensorId x = patch_tokens(builder, "patch_embeddings.projection", "cls_token", pixels,
                                  size.patch, size.hidden);
  const TensorId positions =
      builder.parameter("position_embeddings", {1, builder.shape(x)[1], size.hidden});
  return builder.add(Kind::Add, {x, positions});
}

graph::Graph build_model(const std::string& name, const Size& size) {
  Builder builder(name);
  const TensorId pixels =
      builder.input("pixel_values", {builder.batch(), size.channels, size.image, size.image});
  builder.enter("vit");
  TensorId x = embed_patches(builder, pixels, size);
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope scope(builder, "encoder.layer." + std::to_string(i));
    x = layer(builder, x, size);
  }
  x = layer_norm(builder, "layernorm", x);
  builder.leave();
  const TensorId logits = linear(builder, "classifier", first_token(builder, x), size.classes);
  return finish_classifier(builder, logits);
}

struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"vit-base-patch16-224", "vision transformer, base, patches of 16x16", {12, 768, 12}},
    {"vit-base-patch32-384", "vision transformer, base, patches of 32x32", {12, 768, 12, 32, 384}},
    {"vit-large-patch16-224", "vision transformer, large, patches of 16x16", {24, 1024, 16}},
};

graph::Graph build_vit(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.image = spec.take("image", size.image, 1, kLargestImage);
  size.classes = classes(spec, size.classes);
  size.patch = spec.take("patch", size.patch, 1, kLargestImage);
  size.channels = spec.take("channels", size.channels, 1, 4096);
  size.layers = spec.take("layers", size.layers, 1, kMostLayers);
  size.hidden = spec.take("hidden", size.hidden);
  size.heads = spec.take("heads", size.heads);
  size.ffn = spec.take("ffn", 4 * size.hidden);
  size.qkv_bias = spec.take("qkv_bias", 1, 0, 1) != 0;
  size.activation = spec.take_text("act", size.activation, activation_names());
  require_heads(spec, size.hidden, size.heads);
  if (size.image % size.patch != 0) {
    throw Error(ErrorKind::BadInput, "model '" + spec.name() +
                                         "': patch=" + std::to_string(size.patch) +
                                         " does not divide image=" + std::to_string(size.image));
  }
  return build_model(spec.name(), size);
}

}  // namespace

std::vector<Entry> vit_huggingface_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const Size& size = named.size;
    entries.push_back(
        {{named.name, "Vision transformer", named.about,
          "image=" + std::to_string(size.image) + ", classes=1000, patch=" +
              std::to_string(size.patch) + ", channels=3, layers=" + std::to_string(size.layers) +
              ", hidden=" + std::to_string(size.hidden) + ", heads=" + std::to_string(size.heads) +
              ", ffn=4*hidden, qkv_bias=1, act=gelu"},
         build_vit});
  }
  return entries;
}

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
// Vision transformer (Dosovitskiy et al., ICLR 2021), as in torchvision.
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Row {
  const char* name;
  const char* about;
  int patch;  // pixels on a side
  int layers;
  int heads;
  int hidden;
  int mlp;
};

constexpr std::array kRows{
    Row{"vit_b_16", "vision transformer, base, patches of 16x16", 16, 12, 12, 768, 3072},
    Row{"vit_b_32", "vision transformer, base, patches of 32x32", 32, 12, 12, 768, 3072},
    Row{"vit_l_16", "vision transformer, large, patches of 16x16", 16, 24, 16, 1024, 4096},
    Row{"vit_l_32", "vision transformer, large, patches of 32x32", 32, 24, 16, 1024, 4096},
    Row{"vit_h_14", "vision transformer, huge, patches of 14x14", 14, 32, 16, 1280, 5120},
};

// One GEMM for queries, keys and values, copied apart by heads.
TensorId self_attention(Builder& b, TensorId x, const Row& row) {
  const Scope scope(b, "self_attention");
  const TensorId weight = b.parameter("in_proj_weight", {3 * row.hidden, row.hidden});
  const TensorId bias = b.parameter("in_proj_bias", {3 * row.hidden});
  TensorId all = b.add(Kind::Linear, {x, weight, bias});
  all = b.add(Kind::Reshape, {all}, {{Attr::Shape, {0, 0, 3, row.heads, -1}}});
  all = b.add(Kind::Transpose, {all}, {{Attr::Axes, {2, 0, 3, 1, 4}}});
  all = b.add(Kind::Contiguous, {all});
  const std::vector<TensorId> parts =
      b.add_all(Kind::Split, {all}, {{Attr::Axis, {0}}, {Attr::Sizes, {1, 1, 1}}});
  std::array<TensorId, 3> each{};
  for (std::size_t i = 0; i < each.size(); ++i) {
    const graph::Shape shape = b.shape(parts[i]);
    each[i] =
        b.add(Kind::Reshape, {parts[i]}, {{Attr::Shape, {shape[1], shape[2], shape[3], shape[4]}}});
  }
  x = merge_heads(b, attend(b, each[0], each[1], each[2], {}));
  return linear(b, "out_proj", x, row.hidden);
}

TensorId encoder_layer(Builder& b, TensorId x, const Row& row) {
  x = b.add(Kind::Add, {self_attention(b, layer_norm(b, "ln_1", x), row), x});
  TensorId y = layer_norm(b, "ln_2", x);
  {
    const Scope scope(b, "mlp");
    y = linear(b, "3", gelu(b, "1", linear(b, "0", y, row.mlp)), row.hidden);
  }
  return b.add(Kind::Add, {x, y});
}

TensorId encoder(Builder& b, TensorId x, const Row& row) {
  const Scope scope(b, "encoder");
  const TensorId positions = b.parameter("pos_embedding", {1, b.shape(x)[1], row.hidden});
  x = b.add(Kind::Add, {x, positions});
  for (int i = 0; i < row.layers; ++i) {
    const Scope inner(b, "layers.encoder_layer_" + std::to_string(i));
    x = encoder_layer(b, x, row);
  }
  return layer_norm(b, "ln", x);
}

graph::Graph build_vit(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = images(b, spec, 224, row.patch);
  const std::int64_t image = b.shape(x)[2].factor;
  if (image % row.patch != 0) {
    throw Error(ErrorKind::BadInput, "model '" + spec.name() + "': image=" + std::to_string(image) +
                                         " is not a multiple of " + std::to_string(row.patch) +
                                         ", the size of a patch");
  }
  x = encoder(b, patch_tokens(b, "conv_proj", "class_token", x, row.patch, row.hidden), row);
  return finish_classifier(b, linear(b, "heads.head", first_token(b, x), classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> vit_entries() {
  return entries_of(kRows, "Vision transformer", "image=224, classes=1000", build_vit);
}

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
// Swin transformers (Liu et al., ICCV 2021 and CVPR 2022), as in torchvision.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/vision/swin_attention.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

struct Row {
  const char* name;
  const char* about;
  bool second_version;
  int channels;  // of the first stage; each further one has twice as many
  std::array<int, 4> blocks;
};

constexpr std::array kRows{
    Row{"swin_t", "Swin transformer, tiny", false, 96, {2, 2, 6, 2}},
    Row{"swin_s", "Swin transformer, small", false, 96, {2, 2, 18, 2}},
    Row{"swin_b", "Swin transformer, base", false, 128, {2, 2, 18, 2}},
    Row{"swin_v2_t", "Swin transformer v2, tiny", true, 96, {2, 2, 6, 2}},
    Row{"swin_v2_s", "Swin transformer v2, small", true, 96, {2, 2, 18, 2}},
    Row{"swin_v2_b", "Swin transformer v2, base", true, 128, {2, 2, 18, 2}},
};

constexpr std::int64_t kHeadSize = 32;

std::int64_t usual_image(const Row& row) { return row.second_version ? 256 : 224; }

std::int64_t width_of(const Builder& b, TensorId x) {
  const Shape& shape = b.shape(x);
  return shape[shape.rank() - 1].factor;
}

// x + f(x), where the norm comes before f or, in the second version, after it.
template <typename F>
TensorId residual(Builder& b, TensorId x, const std::string& norm, bool after, bool first, F f) {
  TensorId y = after ? layer_norm(b, norm, f(x)) : f(layer_norm(b, norm, x));
  if (!first) {
    const Scope scope(b, norm);  // the one module runs twice
    y = stochastic_depth(b, y);
  }
  return b.add(Kind::Add, {x, y});
}

TensorId block(Builder& b, TensorId x, const Row& row, bool shifted, bool first) {
  const std::int64_t width = width_of(b, x);
  x = residual(b, x, "norm1", row.second_version, first, [&](TensorId y) {
    const Scope scope(b, "attn");
    return window_attention(b, y,
                            {.heads = width / kHeadSize,
                             .window = row.second_version ? 8 : 7,
                             .shifted = shifted,
                             .second_version = row.second_version});
  });
  return residual(b, x, "norm2", row.second_version, first, [&](TensorId y) {
    const Scope scope(b, "mlp");
    return linear(b, "3", gelu(b, "1", linear(b, "0", y, 4 * width)), width);
  });
}

TensorId every_other(Builder& b, TensorId x, std::int64_t row, std::int64_t column) {
  x = b.add(Kind::Slice, {x}, {{Attr::Axis, {1}}, {Attr::Start, {row}}, {Attr::Step, {2}}});
  return b.add(Kind::Slice, {x}, {{Attr::Axis, {2}}, {Attr::Start, {column}}, {Attr::Step, {2}}});
}

// Four neighbours' channels become twice one's.
TensorId merge_patches(Builder& b, TensorId x, bool second_version) {
  const Shape shape = b.shape(x);
  const std::int64_t width = width_of(b, x);
  x = b.add(Kind::Pad, {x},
            {{Attr::Padding, {0, 0, 0, 0, 0, shape[1].factor % 2, shape[2].factor % 2, 0}}});
  const std::vector<TensorId> parts{every_other(b, x, 0, 0), every_other(b, x, 1, 0),
                                    every_other(b, x, 0, 1), every_other(b, x, 1, 1)};
  x = b.add(Kind::Concat, parts, {{Attr::Axis, {3}}});
  if (second_version) return layer_norm(b, "norm", linear_unbiased(b, "reduction", x, 2 * width));
  return linear_unbiased(b, "reduction", layer_norm(b, "norm", x), 2 * width);
}

TensorId features(Builder& b, TensorId x, const Row& row) {
  const Scope scope(b, "features");
  {
    const Scope stem(b, "0");
    x = conv(b, "0", x, {.channels = row.channels, .kernel = 4, .stride = 4, .bias = true});
    x = layer_norm(b, "2", b.add(Kind::Contiguous, {channels_last(b, x)}));
  }
  int index = 0;
  for (std::size_t stage = 0; stage < row.blocks.size(); ++stage) {
    if (stage > 0) {
      const Scope merging(b, std::to_string(++index));
      x = merge_patches(b, x, row.second_version);
    }
    const Scope outer(b, std::to_string(++index));
    for (int i = 0; i < row.blocks[stage]; ++i) {
      const Scope inner(b, std::to_string(i));
      x = block(b, x, row, i % 2 == 1, stage == 0 && i == 0);
    }
  }
  return x;
}

graph::Graph build_swin(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, usual_image(row), 32), row);
  x = channels_first(b, layer_norm(b, "norm", x));
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 1));
  return finish_classifier(b, linear(b, "head", x, classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> swin_entries() {
  std::vector<Entry> entries;
  entries.reserve(kRows.size());
  for (const Row& row : kRows) {
    entries.push_back({{row.name, "Swin transformer", row.about,
                        "image=" + std::to_string(usual_image(row)) + ", classes=1000"},
                       build_swin});
  }
  return entries;
}

}  // namespace foretrain::zoo

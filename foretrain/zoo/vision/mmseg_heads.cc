// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/mmseg_heads.h"

#include <array>

#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/vision/segmentation_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

namespace {

constexpr std::int64_t kApart = 8;  // rows and columns

// Pixels in one dimension.
TensorId in_line(Builder& b, TensorId x) {
  return b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, channels(b, x), -1}}});
}

TensorId turned(Builder& b, TensorId x) {
  return b.add(Kind::Transpose, {x}, {{Attr::Axes, {0, 2, 1}}});
}

// Pixels of x look at each other.
TensorId self_attention(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const std::int64_t width = channels(b, x);
  const Shape shape = b.shape(x);
  const auto projected = [&](const std::string& part) {
    const TensorId first = conv_module(b, part + ".0", x, {.channels = width / 2});
    return in_line(b, conv_module(b, part + ".1", first, {.channels = width / 2}));
  };
  const TensorId query = turned(b, projected("query_project"));
  const TensorId key = projected("key_project");
  const TensorId value =
      turned(b, in_line(b, conv(b, "value_project", x, {.channels = width, .bias = true})));
  const TensorId scores = b.add(Kind::Scale, {b.add(Kind::MatMul, {query, key})});
  const TensorId shares = b.add(Kind::Softmax, {scores}, {{Attr::Axis, {-1}}});
  TensorId y = b.add(Kind::Contiguous, {turned(b, b.add(Kind::MatMul, {shares, value}))});
  y = b.add(Kind::Reshape, {y}, {{Attr::Shape, {shape[0], shape[1], shape[2], shape[3]}}});
  return conv_module(b, "output_project", y, {.channels = width});
}

// [n, c, rows * apart, columns * apart] and what of each side comes first.
TensorId regroup(Builder& b, TensorId x, const std::array<Dim, 6>& from,
                 const std::array<std::int64_t, 6>& order, const Shape& to) {
  x = b.add(Kind::Reshape, {x},
            {{Attr::Shape, {from[0], from[1], from[2], from[3], from[4], from[5]}}});
  x = b.add(Kind::Transpose, {x},
            {{Attr::Axes, {order[0], order[1], order[2], order[3], order[4], order[5]}}});
  x = b.add(Kind::Contiguous, {x});
  return b.add(Kind::Reshape, {x}, {{Attr::Shape, {to[0], to[1], to[2], to[3]}}});
}

}  // namespace

TensorId conv_module(Builder& b, const std::string& name, TensorId x, const Conv& layer) {
  const Scope scope(b, name);
  return relu(b, "activate", batch_norm(b, "bn", conv(b, "conv", x, layer)));
}

TensorId pixel_classes(Builder& b, TensorId x, std::int64_t count) {
  return conv(b, "conv_seg", dropout(b, "dropout", x), {.channels = count, .bias = true});
}

TensorId non_local(Builder& b, TensorId x) {
  const Scope scope(b, "nl_block");
  const std::int64_t width = channels(b, x);
  const Pair size = image_size(b, x);
  const Conv narrow{.channels = width / 2, .bias = true};
  const auto rows = [&](const char* name) {
    const TensorId line = in_line(b, conv(b, name, x, narrow));
    return b.add(Kind::Transpose, {line}, {{Attr::Axes, {0, 2, 1}}});
  };
  const TensorId value = rows("g.conv");
  const TensorId query = rows("theta.conv");
  const TensorId key = in_line(b, conv(b, "phi.conv", x, narrow));
  const TensorId scores = b.add(Kind::Scale, {b.add(Kind::MatMul, {query, key})});
  const TensorId shares = b.add(Kind::Softmax, {scores}, {{Attr::Axis, {-1}}});
  TensorId y = b.add(Kind::MatMul, {shares, value});
  y = b.add(Kind::Transpose, {y}, {{Attr::Axes, {0, 2, 1}}});
  y = b.add(Kind::Reshape, {y}, {{Attr::Shape, {0, width / 2, size.height, size.width}}});
  y = batch_norm(b, "conv_out.bn", conv(b, "conv_out.conv", y, {.channels = width}));
  return b.add(Kind::Add, {x, y});
}

TensorId global_context(Builder& b, TensorId x) {
  const Scope scope(b, "gc_block");
  const std::int64_t width = channels(b, x);
  const TensorId mask = in_line(b, conv(b, "conv_mask", x, {.channels = 1, .bias = true}));
  const TensorId shares = b.add(Kind::Softmax, {mask}, {{Attr::Axis, {-1}}});
  TensorId y = b.add(Kind::MatMul, {in_line(b, x), shares}, {{Attr::TransposeB, {1}}});
  y = b.add(Kind::Reshape, {y}, {{Attr::Shape, {0, width}}});
  y = layer_norm(b, "channel_add_conv.1", linear(b, "channel_add_conv.0", y, width / 4));
  y = linear(b, "channel_add_conv.3", relu(b, "channel_add_conv.2", y), width);
  y = b.add(Kind::Reshape, {y}, {{Attr::Shape, {0, width, 1, 1}}});
  return b.add(Kind::Add, {x, y});
}

TensorId pyramid_pooling(Builder& b, TensorId x, std::int64_t width) {
  std::vector<TensorId> parts{x};
  constexpr std::array kSizes{1, 2, 3, 6};
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    const Scope scope(b, "psp_modules." + std::to_string(i));
    const TensorId small = adaptive_avg_pool(b, "0", x, kSizes[i]);
    parts.push_back(resize(b, conv_module(b, "1", small, {.channels = width}), image_size(b, x)));
  }
  return conv_module(b, "bottleneck", concat(b, parts), padded_conv(width, 3));
}

TensorId interlaced_attention(Builder& b, TensorId x, std::int64_t width) {
  x = conv_module(b, "in_conv", x, padded_conv(width, 3));
  const Pair size = image_size(b, x);
  const std::int64_t rows = (size.height + kApart - 1) / kApart;
  const std::int64_t columns = (size.width + kApart - 1) / kApart;
  const std::int64_t below = rows * kApart - size.height;
  const std::int64_t right = columns * kApart - size.width;
  TensorId y = x;
  if (below + right > 0) {
    y = b.add(Kind::Pad, {y}, {{Attr::Padding, {0, 0, 0, 0, 0, 0, below, right}}});
  }
  const Dim n = b.batch();
  y = regroup(b, y, {n, width, rows, kApart, columns, kApart}, {0, 3, 5, 1, 2, 4},
              {n * Dim(kApart * kApart), width, rows, columns});
  y = self_attention(b, "global_relation", y);
  y = regroup(b, y, {n, kApart, kApart, width, rows, columns}, {0, 4, 5, 3, 1, 2},
              {n * Dim(rows * columns), width, kApart, kApart});
  y = self_attention(b, "local_relation", y);
  y = regroup(b, y, {n, rows, columns, width, kApart, kApart}, {0, 3, 1, 4, 2, 5},
              {n, width, rows * kApart, columns * kApart});
  if (below + right > 0) {
    const auto cut = [&](std::int64_t axis, std::int64_t end) {
      y = b.add(Kind::Slice, {y}, {{Attr::Axis, {axis}}, {Attr::Start, {0}}, {Attr::End, {end}}});
    };
    cut(2, size.height);
    cut(3, size.width);
  }
  return conv_module(b, "out_conv", concat(b, {x, y}), {.channels = width});
}

TensorId unified_stages(Builder& b, const std::vector<TensorId>& stages, std::int64_t width) {
  std::vector<TensorId> maps;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    maps.push_back(
        conv_module(b, "lateral_convs." + std::to_string(i), stages[i], {.channels = width}));
  }
  maps.push_back(pyramid_pooling(b, stages.back(), width));
  for (std::size_t i = maps.size() - 1; i > 0; --i) {
    const TensorId coarse = resize(b, maps[i], image_size(b, maps[i - 1]));
    maps[i - 1] = b.add(Kind::Add, {maps[i - 1], coarse});
  }
  for (std::size_t i = 0; i + 1 < maps.size(); ++i) {
    maps[i] = conv_module(b, "fpn_convs." + std::to_string(i), maps[i], padded_conv(width, 3));
  }
  for (std::size_t i = 1; i < maps.size(); ++i)
    maps[i] = resize(b, maps[i], image_size(b, maps[0]));
  return conv_module(b, "fpn_bottleneck", concat(b, maps), padded_conv(width, 3));
}

}  // namespace foretrain::zoo

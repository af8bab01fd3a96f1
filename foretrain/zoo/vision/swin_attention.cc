// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/swin_attention.h"

#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

TensorId reshape(Builder& b, TensorId x, const std::vector<Dim>& shape) {
  return b.add(Kind::Reshape, {x}, {{Attr::Shape, shape}});
}

// Turned and copied.
TensorId turn(Builder& b, TensorId x, const std::vector<Dim>& axes) {
  return b.add(Kind::Contiguous, {b.add(Kind::Transpose, {x}, {{Attr::Axes, axes}})});
}

// One value per head and difference of positions, looked up for every pair of tokens:
// [1, heads, tokens, tokens].
TensorId position_bias(Builder& b, const WindowAttention& form) {
  const std::int64_t sides = 2 * form.window - 1;
  const std::int64_t tokens = form.window * form.window;
  TensorId table{};
  if (form.second_version) {
    const TensorId places = b.buffer("relative_coords_table", {1, sides, sides, 2});
    const Scope scope(b, "cpb_mlp");
    table = linear_unbiased(b, "2", relu(b, "1", linear(b, "0", places, 512)), form.heads);
    table = reshape(b, table, {-1, form.heads});
  } else {
    table = b.parameter("relative_position_bias_table", {sides * sides, form.heads});
  }
  const TensorId index = b.buffer("relative_position_index", {tokens * tokens}, DType::I64);
  TensorId bias = b.add(Kind::Gather, {table, index}, {{Attr::Axis, {0}}});
  bias = turn(b, reshape(b, bias, {tokens, tokens, form.heads}), {2, 0, 1});
  if (form.second_version) bias = b.add(Kind::Scale, {b.add(Kind::Sigmoid, {bias})});
  return reshape(b, bias, {1, form.heads, tokens, tokens});
}

// Each query or key over its length; the length costs what a sum does.
TensorId normalized(Builder& b, TensorId x) {
  const TensorId length = b.add(Kind::Sum, {x}, {{Attr::Axes, {-1}}, {Attr::KeepDims, {1}}});
  return b.add(Kind::Div, {x, b.add(Kind::Clip, {length})});
}

TensorId scores(Builder& b, TensorId query, TensorId key, const WindowAttention& form) {
  query = form.second_version ? normalized(b, query) : b.add(Kind::Scale, {query});
  if (form.second_version) key = normalized(b, key);
  query = b.add(Kind::Contiguous, {query});
  key = b.add(Kind::Contiguous, {key});
  const TensorId product = b.add(Kind::MatMul, {query, key}, {{Attr::TransposeB, {1}}});
  if (!form.second_version) return product;
  const TensorId scale = b.parameter("logit_scale", {form.heads, 1, 1});
  return b.add(Kind::Mul, {product, b.add(Kind::Exp, {b.add(Kind::Clip, {scale})})});
}

// Tokens that were no neighbours before the shift do not see each other.
TensorId masked(Builder& b, TensorId all, std::int64_t windows) {
  const Shape shape = b.shape(all);
  const TensorId mask = b.buffer("attn_mask", {1, windows, 1, shape[2], shape[3]});
  all = reshape(b, all, {b.batch(), windows, shape[1], shape[2], shape[3]});
  all = b.add(Kind::Add, {all, mask});
  return reshape(b, all, {shape[0], shape[1], shape[2], shape[3]});
}

// Of tokens in windows: [batch * windows, tokens, channels]. `shifted` is the number of windows of
// an image where they were shifted, else 0.
TensorId attend_in_windows(Builder& b, TensorId x, const WindowAttention& form,
                           std::int64_t shifted) {
  const TensorId bias = position_bias(b, form);
  const Shape shape = b.shape(x);
  const Dim size = shape[2].factor / form.heads;
  TensorId all = linear(b, "qkv", x, 3 * shape[2].factor);
  all = reshape(b, all, {shape[0], shape[1], 3, form.heads, size});
  all = b.add(Kind::Transpose, {all}, {{Attr::Axes, {2, 0, 3, 1, 4}}});
  std::vector<TensorId> parts =
      b.add_all(Kind::Split, {all}, {{Attr::Axis, {0}}, {Attr::Sizes, {1, 1, 1}}});
  for (TensorId& part : parts) part = reshape(b, part, {shape[0], form.heads, shape[1], size});
  TensorId sums = b.add(Kind::Add, {scores(b, parts[0], parts[1], form), bias});
  if (shifted > 0) sums = masked(b, sums, shifted);
  const TensorId shares = b.add(Kind::Softmax, {sums}, {{Attr::Axis, {-1}}});
  const TensorId value = b.add(Kind::Contiguous, {parts[2]});
  x = turn(b, b.add(Kind::MatMul, {shares, value}), {0, 2, 1, 3});
  return linear(b, "proj", reshape(b, x, {shape[0], shape[1], shape[2]}), shape[2].factor);
}

std::int64_t rounded_up(std::int64_t size, std::int64_t step) {
  return (size + step - 1) / step * step;
}

}  // namespace

TensorId window_attention(Builder& b, TensorId x, const WindowAttention& form) {
  const Shape shape = b.shape(x);
  const std::int64_t side = form.window;
  const std::int64_t height = shape[1].factor;
  const std::int64_t width = shape[2].factor;
  const std::int64_t full_height = rounded_up(height, side);
  const std::int64_t full_width = rounded_up(width, side);
  const bool shifted = form.shifted && (full_height > side || full_width > side);
  // Copies even where nothing is added.
  x = b.add(Kind::Pad, {x},
            {{Attr::Padding, {0, 0, 0, 0, 0, full_height - height, full_width - width, 0}}});
  if (shifted) x = b.add(Kind::Roll, {x});
  const Dim rows = full_height / side;
  const Dim columns = full_width / side;
  const std::int64_t windows = rows.factor * columns.factor;
  x = turn(b, reshape(b, x, {0, rows, side, columns, side, shape[3]}), {0, 1, 3, 2, 4, 5});
  x = reshape(b, x, {b.batch() * Dim(windows), side * side, shape[3]});
  x = attend_in_windows(b, x, form, shifted ? windows : 0);
  x = turn(b, reshape(b, x, {b.batch(), rows, columns, side, side, shape[3]}), {0, 1, 3, 2, 4, 5});
  x = reshape(b, x, {b.batch(), full_height, full_width, shape[3]});
  if (shifted) x = b.add(Kind::Roll, {x});
  if (full_height == height && full_width == width) return x;
  x = b.add(Kind::Slice, {x}, {{Attr::Axis, {1}}, {Attr::End, {height}}});
  x = b.add(Kind::Slice, {x}, {{Attr::Axis, {2}}, {Attr::End, {width}}});
  return b.add(Kind::Contiguous, {x});
}

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/rotary.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

namespace {

TensorId features(Builder& builder, TensorId x, std::int64_t start, std::int64_t end) {
  return builder.add(Kind::Slice, {x},
                     Attributes{{Attr::Axis, {3}}, {Attr::Start, {start}}, {Attr::End, {end}}});
}

// x cos + rotated(x) sin, where rotated (a, b) = (-b, a).
TensorId turn(Builder& builder, TensorId x, const Angles& angles) {
  const std::int64_t half = builder.shape(x)[3].factor / 2;
  const TensorId straight = builder.add(Kind::Mul, {x, angles.cos});
  const TensorId front = features(builder, x, 0, half);
  const TensorId back = features(builder, x, half, 2 * half);
  const TensorId turned = builder.add(Kind::Concat, {builder.add(Kind::Neg, {back}), front},
                                      Attributes{{Attr::Axis, {3}}});
  return builder.add(Kind::Add, {straight, builder.add(Kind::Mul, {turned, angles.sin})});
}

}  // namespace

Angles rotary_angles(Builder& builder, std::int64_t seq, std::int64_t size) {
  const graph::Shape shape{1, 1, seq, size};
  return {builder.buffer("rotary_emb.cos_cached", shape),
          builder.buffer("rotary_emb.sin_cached", shape)};
}

TensorId rotate(Builder& builder, TensorId x, const Angles& angles) {
  const std::int64_t turning = builder.shape(angles.cos)[3].factor;
  const std::int64_t size = builder.shape(x)[3].factor;
  if (turning == size) return turn(builder, x, angles);
  const TensorId turned = turn(builder, features(builder, x, 0, turning), angles);
  const TensorId rest = features(builder, x, turning, size);
  return builder.add(Kind::Concat, {turned, rest}, Attributes{{Attr::Axis, {3}}});
}

}  // namespace foretrain::zoo

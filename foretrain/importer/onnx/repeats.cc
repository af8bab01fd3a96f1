// SPDX-License-Identifier: Apache-2.0
// Operators that repeat values or move them between axes.
#include <array>
#include <utility>

#include "foretrain/graph/rules.h"
#include "foretrain/importer/onnx/fold.h"
#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

void expand(const OnnxCall& call, Kind kind) {
  const OnnxValue& value = call.in(0);
  Shape wanted;
  for (const Dim& dim : call.sizes(1)) wanted.push_back(dim == Dim(-1) ? Dim(1) : dim);
  const Shape target = graph::broadcast(value.shape, wanted);
  for (const Dim& dim : target.dims()) {
    if (dim.factor < 0) OnnxCall::fail("has a negative dimension");
  }
  if (target == value.shape) return translate_identity(call, Kind::Identity);
  if (const Scalar* scalar = call.uniform(0)) {
    return call.give_uniform(0, target, value.type, *scalar);
  }
  if (call.knows(0) && small_count(target)) {
    return call.give_content(0, target, value.type,
                             picked(value.content, broadcast_sources(value.shape, target)));
  }
  const std::vector<Dim> dims(target.dims().begin(), target.dims().end());
  call.give(0, call.emit(kind, {call.tensor(0)}, {{Attr::Shape, dims}}));
}

// A repeated axis is a new one before it, expanded and copied.
void tile(const OnnxCall& call, Kind /*kind*/) {
  const std::vector<Dim> repeats = call.sizes(1);
  const Shape from = call.shape(0);
  if (static_cast<int>(repeats.size()) != from.rank()) OnnxCall::fail("needs a number per axis");
  Shape target;
  for (int i = 0; i < from.rank(); ++i) {
    if (repeats[static_cast<std::size_t>(i)].factor < 1)
      OnnxCall::fail_unsupported("repeats an axis 0 times");
    target.push_back(from[i] * repeats[static_cast<std::size_t>(i)]);
  }
  if (target == from) return translate_identity(call, Kind::Identity);
  if (const Scalar* scalar = call.uniform(0)) {
    return call.give_uniform(0, target, call.in(0).type, *scalar);
  }
  TensorId x = call.tensor(0);
  for (int i = 0; i < from.rank(); ++i) {
    const Dim& repeat = repeats[static_cast<std::size_t>(i)];
    if (repeat == Dim(1)) continue;
    const Shape now = call.shape_of(x);
    Shape with_axis;
    std::vector<Dim> wide;
    for (int k = 0; k < now.rank(); ++k) {
      if (k == i) {
        with_axis.push_back(Dim(1));
        wide.push_back(repeat);
      }
      with_axis.push_back(now[k]);
      wide.push_back(now[k]);
    }
    Shape merged = now;
    merged[i] = now[i] * repeat;
    x = call.emit(Kind::Expand, {call.reshape(x, with_axis)}, {{Attr::Shape, wide}});
    x = call.reshape(call.emit(Kind::Contiguous, {x}), merged);
  }
  call.give(0, x);
}

// Blocks of space become channels, or the other way round.
void space_and_depth(const OnnxCall& call, Kind /*kind*/) {
  const bool to_space = call.node().op_type == "DepthToSpace";
  const std::int64_t block = call.integer("blocksize", 0);
  const Shape& x = call.shape(0);
  if (x.rank() != 4 || block < 1 || block > 65536)
    OnnxCall::fail("takes [batch, channels, height, width] and a block size");
  const Dim b(block);
  Dim c;
  if (!to_space) {
    Dim h;
    Dim w;
    if (!divides(b, x[2], h) || !divides(b, x[3], w))
      OnnxCall::fail("blocks do not divide the space");
    const TensorId split = call.reshape(call.tensor(0), {x[0], x[1], h, b, w, b});
    const TensorId turned = call.transpose(split, {0, 3, 5, 1, 2, 4});
    const TensorId copy = call.emit(Kind::Contiguous, {turned});
    return call.give(0, call.reshape(copy, {x[0], x[1] * b * b, h, w}));
  }
  if (!divides(b * b, x[1], c)) OnnxCall::fail("blocks do not divide the channels");
  const bool depth_first = call.text("mode", "DCR") == "DCR";
  const TensorId split =
      call.reshape(call.tensor(0), depth_first ? Shape{x[0], b, b, c, x[2], x[3]}
                                               : Shape{x[0], c, b, b, x[2], x[3]});
  const TensorId turned = call.transpose(
      split, depth_first ? std::vector<int>{0, 3, 4, 1, 5, 2} : std::vector<int>{0, 1, 4, 2, 5, 3});
  const TensorId copy = call.emit(Kind::Contiguous, {turned});
  call.give(0, call.reshape(copy, {x[0], c, x[2] * b, x[3] * b}));
}

constexpr std::array kRules{
    OnnxRule{"Expand", expand, Kind::Expand},
    OnnxRule{"Tile", tile},
    OnnxRule{"DepthToSpace", space_and_depth},
    OnnxRule{"SpaceToDepth", space_and_depth},
};

}  // namespace

std::span<const OnnxRule> onnx_repeat_rules() { return kRules; }

}  // namespace foretrain::importer

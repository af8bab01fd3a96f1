// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/yolo_loss.h"

#include <vector>

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

constexpr std::int64_t kAnchors = 3;

// Columns [begin, end) of the last axis.
TensorId columns(Builder& b, TensorId x, std::int64_t begin, std::int64_t end) {
  return b.add(Kind::Slice, {x}, {{Attr::Axis, {-1}}, {Attr::Start, {begin}}, {Attr::End, {end}}});
}

TensorId side_by_side(Builder& b, const std::vector<TensorId>& parts) {
  return b.add(Kind::Concat, parts, {{Attr::Axis, {-1}}});
}

// Centre and size become two corners.
TensorId corners(Builder& b, TensorId boxes) {
  const auto moved = [&](Kind direction) {
    const TensorId half = b.add(Kind::Scale, {columns(b, boxes, 2, 4)});
    return b.add(direction, {columns(b, boxes, 0, 2), half});
  };
  const TensorId low = moved(Kind::Sub);
  return side_by_side(b, {low, moved(Kind::Add)});
}

TensorId product_of_sides(Builder& b, TensorId sides) {
  return b.add(Kind::Mul, {columns(b, sides, 0, 1), columns(b, sides, 1, 2)});
}

TensorId area_between(Builder& b, TensorId low, TensorId high) {
  return product_of_sides(b, b.add(Kind::Clip, {b.add(Kind::Sub, {high, low})}));
}

TensorId area(Builder& b, TensorId boxes) {
  return product_of_sides(b, b.add(Kind::Sub, {columns(b, boxes, 2, 4), columns(b, boxes, 0, 2)}));
}

struct Overlap {
  TensorId ratio{};     // of intersection to union
  TensorId together{};  // area of the union
};

Overlap overlap(Builder& b, TensorId first, TensorId second, TensorId areas) {
  const TensorId low = b.add(Kind::Maximum, {columns(b, first, 0, 2), columns(b, second, 0, 2)});
  const TensorId high = b.add(Kind::Minimum, {columns(b, first, 2, 4), columns(b, second, 2, 4)});
  const TensorId shared = area_between(b, low, high);
  const TensorId all = b.add(Kind::Sub, {areas, shared});
  return {b.add(Kind::Div, {b.add(Kind::Scale, {shared}), all}), all};
}

// Corners in order, whatever the network said.
TensorId ordered(Builder& b, TensorId boxes) {
  const TensorId low = b.add(Kind::Minimum, {columns(b, boxes, 0, 2), columns(b, boxes, 2, 4)});
  const TensorId high = b.add(Kind::Maximum, {columns(b, boxes, 0, 2), columns(b, boxes, 2, 4)});
  return side_by_side(b, {low, high});
}

// Rezatofighi et al., CVPR 2019.
TensorId generalised_overlap(Builder& b, TensorId predicted, TensorId wanted) {
  const TensorId first = ordered(b, corners(b, predicted));
  const TensorId second = ordered(b, corners(b, wanted));
  const TensorId areas = b.add(Kind::Add, {area(b, first), area(b, second)});
  const Overlap found = overlap(b, first, second, areas);
  const TensorId low = b.add(Kind::Minimum, {columns(b, first, 0, 2), columns(b, second, 0, 2)});
  const TensorId high = b.add(Kind::Maximum, {columns(b, first, 2, 4), columns(b, second, 2, 4)});
  const TensorId around = area_between(b, low, high);
  const TensorId excess = b.add(Kind::Scale, {b.add(Kind::Sub, {around, found.together})});
  return b.add(Kind::Sub, {found.ratio, b.add(Kind::Div, {excess, around})});
}

// Whether no box of the image overlaps a prediction: [batch, grid, grid, anchors, 1]. Looks at
// every pair; nothing is learned through it.
TensorId free_of_boxes(Builder& b, const std::string& scale, TensorId predicted) {
  const Shape shape = b.shape(predicted);
  const TensorId boxes = b.input(scale + "_boxes", {b.batch(), 1, 1, 1, kYoloBoxes, 4});
  const TensorId lifted = b.add(Kind::Reshape, {predicted},
                                {{Attr::Shape, {shape[0], shape[1], shape[2], shape[3], 1, 4}}});
  const TensorId areas = b.add(Kind::Add, {product_of_sides(b, columns(b, lifted, 2, 4)),
                                           product_of_sides(b, columns(b, boxes, 2, 4))});
  const TensorId ratio = overlap(b, corners(b, lifted), corners(b, boxes), areas).ratio;
  const TensorId rows =
      b.add(Kind::Reshape, {ratio}, {{Attr::Shape, {shape[0], shape[1], shape[2], shape[3], -1}}});
  const TensorId best = b.add(Kind::ArgMax, {rows}, {{Attr::Axes, {-1}}, {Attr::KeepDims, {1}}});
  const TensorId none = b.add(Kind::Compare, {best});
  return b.add(Kind::Cast, {none}, {{Attr::Type, {static_cast<std::int64_t>(DType::F32)}}});
}

// Binary cross entropy of logits, one kernel, times how far off they are, squared.
TensorId focal(Builder& b, TensorId logits, TensorId wanted) {
  const TensorId entropy = b.add(Kind::Softplus, {logits});
  const TensorId said = b.add(Kind::Sigmoid, {logits});
  const TensorId off = b.add(Kind::Abs, {b.add(Kind::Sub, {wanted, said})});
  return b.add(Kind::Mul, {entropy, b.add(Kind::Scale, {b.add(Kind::Pow, {off})})});
}

TensorId total(Builder& b, TensorId x) { return b.add(Kind::Scale, {b.add(Kind::Sum, {x})}); }

TensorId decode(Builder& b, TensorId raw, std::int64_t width) {
  raw = b.add(Kind::Contiguous, {raw});
  const Shape shape = b.shape(raw);
  const TensorId grid = b.buffer("grid", {1, shape[1], shape[2], 1, 2});
  const TensorId anchors = b.buffer("anchors", {kAnchors, 2});
  const TensorId centre = b.add(Kind::Add, {b.add(Kind::Sigmoid, {columns(b, raw, 0, 2)}), grid});
  const TensorId size = b.add(Kind::Mul, {b.add(Kind::Exp, {columns(b, raw, 2, 4)}), anchors});
  const TensorId box = side_by_side(b, {b.add(Kind::Scale, {centre}), b.add(Kind::Scale, {size})});
  const TensorId confidence = b.add(Kind::Sigmoid, {columns(b, raw, 4, 5)});
  return side_by_side(b, {box, confidence, b.add(Kind::Sigmoid, {columns(b, raw, 5, width)})});
}

TensorId loss(Builder& b, const std::string& scale, TensorId raw, TensorId decoded,
              std::int64_t width) {
  Shape shape = b.shape(raw);
  shape[4] = width + 1;  // box, object, weight, classes
  const TensorId labels = b.input(scale + "_labels", shape);
  const TensorId object = columns(b, labels, 4, 5);
  const TensorId weight = columns(b, labels, 5, 6);
  const auto weighted = [&](TensorId x) { return total(b, b.add(Kind::Mul, {x, weight})); };

  const TensorId predicted = columns(b, decoded, 0, 4);
  const TensorId wanted = columns(b, labels, 0, 4);
  const TensorId miss = b.add(Kind::Shift, {generalised_overlap(b, predicted, wanted)});
  const TensorId small =
      b.add(Kind::Shift, {b.add(Kind::Scale, {product_of_sides(b, columns(b, labels, 2, 4))})});
  const TensorId boxes = weighted(b.add(Kind::Mul, {b.add(Kind::Mul, {object, small}), miss}));

  const TensorId confidence = columns(b, raw, 4, 5);
  const TensorId empty =
      b.add(Kind::Mul, {b.add(Kind::Shift, {object}), free_of_boxes(b, scale, predicted)});
  const TensorId full_loss = b.add(Kind::Mul, {object, focal(b, confidence, object)});
  const TensorId empty_loss = b.add(Kind::Mul, {empty, focal(b, confidence, object)});
  const TensorId objects = weighted(b.add(Kind::Add, {full_loss, empty_loss}));

  const TensorId entropy = b.add(Kind::Softplus, {columns(b, raw, 5, width)});
  const TensorId kinds = weighted(b.add(Kind::Mul, {object, entropy}));
  return b.add(Kind::Add, {b.add(Kind::Add, {boxes, objects}), kinds});
}

}  // namespace

YoloScale yolo_scale(Builder& b, const std::string& scale, TensorId map, std::int64_t classes) {
  const std::int64_t width = 5 + classes;
  const Shape shape = b.shape(map);
  const Scope scope(b, scale);
  TensorId raw =
      b.add(Kind::Reshape, {map}, {{Attr::Shape, {0, kAnchors, width, shape[2], shape[3]}}});
  raw = b.add(Kind::Transpose, {raw}, {{Attr::Axes, {0, 3, 4, 1, 2}}});
  const TensorId decoded = decode(b, raw, width);
  return {decoded, loss(b, scale, raw, decoded, width)};
}

}  // namespace foretrain::zoo

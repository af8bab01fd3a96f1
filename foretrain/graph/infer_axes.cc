// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

constexpr std::int64_t kMostWindow = std::int64_t{1} << 30;

// How many inputs an element-wise operator takes.
void require_operands(const Node& node, const Shapes& inputs) {
  switch (node.kind) {
    case Kind::Add:
      return require(!inputs.empty(), "needs an input");
    case Kind::Where:  // without a third, the rest is a constant
      return require_inputs(inputs, 2, 3);
    case Kind::Compare:  // likewise
      return require_inputs(inputs, 1, 2);
    default:
      return require_inputs(inputs, 2, 2);
  }
}

// A norm's weights: one value for each that it scales.
void require_each(const Shapes& inputs, const Shape& values) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    require(inputs[i] == values, "a weight of the norm does not fit its input");
  }
}

}  // namespace

Dim windowed(const Node& node, const Dim& size, int axis, int spatial, std::int64_t kernel,
             bool ceil_mode) {
  const Attributes& at = node.attributes;
  const std::int64_t stride = at.at(Attr::Stride, axis, 1);
  const std::int64_t dilation = at.at(Attr::Dilation, axis, 1);
  const std::vector<Dim>* padding = at.find(Attr::Padding);
  const bool two_sided =
      padding != nullptr && spatial > 0 && padding->size() == 2 * static_cast<std::size_t>(spatial);
  const std::int64_t before = at.at(Attr::Padding, axis, 0);
  const std::int64_t after = two_sided ? at.at(Attr::Padding, axis + spatial, 0) : before;
  require(stride >= 1 && dilation >= 1 && kernel >= 1 && before >= 0 && after >= 0,
          "stride, dilation and kernel are at least 1, padding at least 0");
  require(std::max({stride, dilation, kernel, before, after}) < kMostWindow,
          "a window is absurdly large");
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  if (!is_number(size)) {
    require(stride == 1 && before + after == reach - 1,
            "a window changes an axis whose size is a symbol; give the symbol a value");
    return size;
  }
  const std::int64_t room = size.factor + before + after - reach;
  require(room >= 0, "the window is larger than the padded input");
  std::int64_t steps = (room + (ceil_mode ? stride - 1 : 0)) / stride;
  // A window that rounding up adds must still start inside the input or its left padding.
  if (ceil_mode && steps * stride >= size.factor + before) --steps;
  return Dim(steps + 1);
}

Dim unwindowed(const Node& node, const Dim& size, int axis, std::int64_t kernel) {
  const Attributes& at = node.attributes;
  require(is_number(size), "a transposed window over an axis whose size is a symbol");
  const std::int64_t stride = at.at(Attr::Stride, axis, 1);
  const std::int64_t padding = at.at(Attr::Padding, axis, 0);
  const std::int64_t dilation = at.at(Attr::Dilation, axis, 1);
  const std::int64_t extra = at.at(Attr::OutputPadding, axis, 0);
  require(stride >= 1 && dilation >= 1 && kernel >= 1 && padding >= 0 && extra >= 0,
          "stride, dilation and kernel are at least 1, padding at least 0");
  require(std::max({size.factor, stride, padding, dilation, extra, kernel}) < kMostWindow,
          "a window is absurdly large");
  const std::int64_t result =
      (size.factor - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1;
  require(result >= 1, "the transposed window leaves nothing");
  return Dim(result);
}

Shapes infer_broadcast(const Node& node, const Shapes& inputs) {
  require_operands(node, inputs);
  Shape result = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) result = broadcast(result, inputs[i]);
  return {result};
}

Shapes infer_dropout(const Node&, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  return {inputs[0], inputs[0]};
}

Shapes infer_norm(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, node.kind == Kind::BatchNorm ? 5 : node.kind == Kind::RmsNorm ? 2 : 3);
  const Shape& x = inputs[0];
  if (node.kind == Kind::BatchNorm) {
    require(x.rank() >= 2, "batch norm takes [batch, channels, ...]");
    require_each(inputs, Shape{x[1]});
    return {x, Shape{x[1] * Dim(2)}};
  }
  if (node.kind == Kind::GroupNorm) {
    require(x.rank() >= 2, "group norm takes [batch, channels, ...]");
    require_each(inputs, Shape{x[1]});
    const std::int64_t groups = node.attributes.number(Attr::Groups, 1);
    require(groups >= 1, "group norm needs at least one group");
    return {x, Shape{x[0] * Dim(2 * groups)}};
  }
  const std::int64_t trailing = node.attributes.number(Attr::Axes, 1);
  require(trailing >= 1 && trailing <= x.rank(), "the norm's axes exceed the tensor's rank");
  require_each(inputs, Shape(x.dims().last(static_cast<std::size_t>(trailing))));
  Dim rows(node.kind == Kind::LayerNorm ? 2 : 1);
  for (int i = 0; i < x.rank() - trailing; ++i) rows = rows * x[i];
  return {x, Shape{rows}};
}

Shapes infer_reduce(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const Shape& x = inputs[0];
  const std::vector<Dim>* axes = node.attributes.find(Attr::Axes);
  const bool keep = node.attributes.number(Attr::KeepDims, 0) != 0;
  unsigned reduced = axes == nullptr ? ~0U : 0U;
  if (axes != nullptr) {
    for (const Dim& given : *axes) {
      const std::int64_t axis = given.factor < 0 ? given.factor + x.rank() : given.factor;
      require(axis >= 0 && axis < x.rank(), "a reduced axis is not there");
      reduced |= 1U << static_cast<unsigned>(axis);
    }
  }
  Shape result;
  for (int i = 0; i < x.rank(); ++i) {
    const bool gone = ((reduced >> static_cast<unsigned>(i)) & 1U) != 0;
    if (!gone) result.push_back(x[i]);
    if (gone && keep) result.push_back(Dim(1));
  }
  return {result};
}

Shapes infer_top_k(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  Shape result = inputs[0];
  const int axis = axis_of(node, result, -1);
  const std::int64_t k = node.attributes.number(Attr::Sizes, 1);
  require(k >= 1 && (!is_number(result[axis]) || k <= result[axis].factor),
          "top-k takes more than there is");
  result[axis] = Dim(k);
  return {result, result};
}

Shapes infer_pool(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const Shape& x = inputs[0];
  require(x.rank() >= 3, "pooling takes [batch, channels, space...]");
  Shape result{x[0], x[1]};
  const bool ceil_mode = node.attributes.number(Attr::CeilMode, 0) != 0;
  for (int axis = 2; axis < x.rank(); ++axis) {
    result.push_back(windowed(node, x[axis], axis - 2, x.rank() - 2,
                              node.attributes.at(Attr::Kernel, axis - 2, 1), ceil_mode));
  }
  if (node.kind == Kind::MaxPool) return {result, result};
  return {result};
}

Shapes infer_adaptive_pool(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const Shape& x = inputs[0];
  require(x.rank() >= 3, "pooling takes [batch, channels, space...]");
  Shape result{x[0], x[1]};
  for (int axis = 2; axis < x.rank(); ++axis) {
    const std::int64_t size = node.attributes.at(Attr::Sizes, axis - 2, 1);
    require(size >= 1, "adaptive pooling needs a positive output size");
    result.push_back(Dim(size));
  }
  return {result};
}

Shapes infer_loss(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 2, 2);
  if (node.kind == Kind::CrossEntropy) return {Shape{}, inputs[0]};  // loss, log-probabilities
  require(inputs[0] == inputs[1], "prediction and target differ in shape");
  return {Shape{}};
}

Shapes infer_given(const Node&, const Shapes&) { return {}; }

}  // namespace foretrain::graph

// SPDX-License-Identifier: Apache-2.0
// For tests: graphs of any operators, drawn at random.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {

// A number from 0 up to, not including, its argument.
using Draw = std::function<std::size_t(std::size_t)>;

class AnyGraph {
 public:
  explicit AnyGraph(Draw draw) : draw_(std::move(draw)), builder_("any") {}

  // What does not fit together is refused by its shape rule and left out.
  Graph make() {
    sources();
    const std::size_t tries = 1 + draw_(120);
    for (std::size_t i = 0; i < tries; ++i) {
      try {
        const std::vector<TensorId> outputs = builder_.add_all(kind(), inputs(), attributes());
        tensors_.insert(tensors_.end(), outputs.begin(), outputs.end());
        if (!outputs.empty()) last_ = outputs.front();
      } catch (const Error&) {
        continue;
      }
    }
    builder_.output(last_);
    if (draw_(4) != 0) builder_.loss(builder_.add(Kind::Mean, {last_}));
    return builder_.finish();
  }

 private:
  void sources() {
    const Dim batch = builder_.batch();
    const std::vector<Shape> shapes{
        {batch, 8, 8, 8}, {batch, 6, 8}, {batch, 8}, {batch, 2, 6, 4}, {6, batch, 8}};
    for (const Shape& shape : shapes) tensors_.push_back(builder_.input("x", shape));
    tensors_.push_back(builder_.input("ids", {batch, 6}, DType::I64));
    tensors_.push_back(builder_.input("ids", {batch}, DType::I64));
    const std::vector<Shape> weights{{8, 8},       {16, 8},      {32, 8},      {8}, {16},
                                     {8, 8, 3, 3}, {4, 8, 1, 1}, {8, 1, 3, 3}, {1}};
    for (const Shape& shape : weights) {
      for (int i = 0; i < 2; ++i) tensors_.push_back(builder_.parameter("w", shape));
    }
    last_ = builder_.add(Kind::Linear, {tensors_[2], tensors_[7]});
  }

  // An operator whose shapes are inferred; those of several inputs fit rarely, so they are
  // drawn more often.
  Kind kind() {
    static constexpr std::array kRare{
        Kind::Linear,    Kind::MatMul,    Kind::Conv,         Kind::Attention,
        Kind::Recurrent, Kind::Embedding, Kind::Reshape,      Kind::Concat,
        Kind::Transpose, Kind::Split,     Kind::LayerNorm,    Kind::BatchNorm,
        Kind::Add,       Kind::Mul,       Kind::CrossEntropy, Kind::Pad};
    if (draw_(2) == 0) return kRare[draw_(kRare.size())];
    std::vector<Kind> inferred;  // so that new kinds of communication draw nothing anew
    for (int k = 0; k < kKinds; ++k) {
      if (op(static_cast<Kind>(k)).infer != infer_given) inferred.push_back(static_cast<Kind>(k));
    }
    return inferred[draw_(inferred.size())];
  }

  std::vector<TensorId> inputs() {
    const std::size_t count = 1 + draw_(draw_(8) == 0 ? 6 : 3);
    std::vector<TensorId> ids;
    for (std::size_t i = 0; i < count; ++i) {
      // Often the newest, so that there are long chains; often the same again.
      const std::size_t from =
          draw_(3) == 0 ? tensors_.size() : std::min<std::size_t>(tensors_.size(), 4);
      const bool again = i > 0 && draw_(6) == 0;
      ids.push_back(again                    ? ids.front()
                    : i > 0 && draw_(2) == 0 ? tensors_[draw_(tensors_.size())]
                                             : tensors_[tensors_.size() - 1 - draw_(from)]);
    }
    return ids;
  }

  Attributes attributes() {
    static constexpr std::array kKeys{
        Attr::Kernel,   Attr::Stride,     Attr::Padding,       Attr::Dilation,   Attr::Groups,
        Attr::CeilMode, Attr::Transposed, Attr::OutputPadding, Attr::Axis,       Attr::KeepDims,
        Attr::Start,    Attr::End,        Attr::Step,          Attr::TransposeA, Attr::TransposeB,
        Attr::Layers,   Attr::Directions, Attr::BatchFirst,    Attr::Causal,     Attr::Mask,
        Attr::Dropout,  Attr::Inplace,    Attr::Frozen};
    Attributes attributes;
    const std::size_t count = draw_(4);
    for (std::size_t i = 0; i < count; ++i) {
      attributes.set(kKeys[draw_(kKeys.size())], {Dim(static_cast<std::int64_t>(draw_(5)) - 1)});
    }
    if (draw_(2) == 0)
      attributes.set(Attr::Shape,
                     list({builder_.batch(), Dim(-1), Dim(0), Dim(8), Dim(2), Dim(4), Dim(6)}));
    if (draw_(2) == 0) attributes.set(Attr::Axes, list({Dim(0), Dim(1), Dim(2), Dim(3)}));
    if (draw_(4) == 0) attributes.set(Attr::Axes, {Dim(1), Dim(0)});  // a matrix transposed
    if (draw_(2) == 0) attributes.set(Attr::Sizes, list({Dim(1), Dim(2), Dim(4), Dim(6)}));
    if (draw_(4) == 0) attributes.set(Attr::Sizes, {Dim(4), Dim(4)});  // halves of 8
    if (draw_(3) == 0) {
      std::vector<Dim> padding(2 + 2 * draw_(4));
      for (Dim& value : padding) value = Dim(draw_(4) == 0 ? 1 : 0);
      attributes.set(Attr::Padding, padding);
    }
    if (draw_(2) == 0) attributes.set(Attr::Hidden, {Dim(8)});
    if (draw_(2) == 0)
      attributes.set(Attr::Type, {Dim(static_cast<std::int64_t>(draw_(kDTypeNames.size())))});
    return attributes;
  }

  std::vector<Dim> list(const std::vector<Dim>& of) {
    std::vector<Dim> values(1 + draw_(4));
    for (Dim& value : values) value = of[draw_(of.size())];
    return values;
  }

  Draw draw_;
  Builder builder_;
  std::vector<TensorId> tensors_;
  TensorId last_ = 0;
};

}  // namespace foretrain::graph

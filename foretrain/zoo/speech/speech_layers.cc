// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/speech/speech_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

TensorId conv1d(Builder& builder, const std::string& name, TensorId x, const Conv1d& layer) {
  const Scope scope(builder, name);
  const std::int64_t in = builder.shape(x)[1].factor / layer.groups;
  std::vector<TensorId> inputs{x};
  inputs.push_back(builder.parameter("weight", {layer.channels, in, layer.kernel}));
  if (layer.bias) inputs.push_back(builder.parameter("bias", {layer.channels}));
  Attributes attributes;
  const auto set = [&attributes](Attr key, std::int64_t value, std::int64_t usual) {
    if (value != usual) attributes.set(key, {value});
  };
  set(Attr::Stride, layer.stride, 1);
  set(Attr::Padding, layer.kernel / 2 * layer.dilation, 0);
  set(Attr::Dilation, layer.dilation, 1);
  set(Attr::Groups, layer.groups, 1);
  return builder.add(Kind::Conv, inputs, attributes);
}

TensorId ctc_loss(Builder& builder, TensorId logits) {
  const Scope scope(builder, "loss");
  builder.note("the CTC loss counts as a cross entropy over every frame");
  const TensorId targets = builder.input("targets", {builder.shape(logits)[0]}, DType::I64);
  return builder.add(Kind::CrossEntropy, {logits, targets});
}

}  // namespace foretrain::zoo

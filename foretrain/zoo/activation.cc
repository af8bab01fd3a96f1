// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/detail/activation.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::TensorId;

struct Row {
  const char* name;
  Kind kind;  // of one kernel
  bool composed = false;
};

// Source: transformers, activations.py.
constexpr std::array kRows{
    Row{"relu", Kind::Relu},
    Row{"gelu", Kind::Gelu},
    Row{"gelu_new", Kind::Gelu, true},
    Row{"gelu_fast", Kind::Gelu, true},
    Row{"gelu_pytorch_tanh", Kind::Gelu},
    Row{"quick_gelu", Kind::Sigmoid, true},
    Row{"silu", Kind::Silu},
    Row{"swish", Kind::Silu},
    Row{"mish", Kind::Mish},
    Row{"tanh", Kind::Tanh},
    Row{"sigmoid", Kind::Sigmoid},
    Row{"relu6", Kind::Relu6},
};

// x sigmoid(1.702 x).
TensorId quick_gelu(Builder& builder, TensorId x) {
  const TensorId gate = builder.add(Kind::Sigmoid, {builder.add(Kind::Scale, {x})});
  return builder.add(Kind::Mul, {x, gate});
}

}  // namespace

const std::vector<std::string>& activation_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Row& row : kRows) names.emplace_back(row.name);
    return names;
  }();
  return kNames;
}

TensorId activate(Builder& builder, const std::string& name, TensorId x) {
  const auto* row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return name == r.name; });
  assert(row != kRows.end());
  if (!row->composed) return builder.add(row->kind, {x});
  return row->kind == Kind::Gelu ? gelu_tanh(builder, x) : quick_gelu(builder, x);
}

}  // namespace foretrain::zoo

// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling.
#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::int64_t kMostWindow = std::int64_t{1} << 30;  // as graph's own

// One number per spatial axis; `otherwise` where the file gives none.
using PerAxis = std::vector<std::int64_t>;

PerAxis per_axis(const OnnxCall& call, const char* name, std::size_t axes, std::int64_t otherwise) {
  PerAxis values = call.integers(name);
  if (values.empty()) values.assign(axes, otherwise);
  if (values.size() != axes) OnnxCall::fail(std::string("'") + name + "' needs a number per axis");
  for (const std::int64_t value : values) {
    if (value < 0 || value >= kMostWindow) OnnxCall::fail(std::string("'") + name + "' is absurd");
  }
  return values;
}

struct Window {
  PerAxis kernel;
  PerAxis stride;
  PerAxis dilation;
  PerAxis padding;  // before each axis, then after each

  std::int64_t reach(std::size_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
};

Window window_of(const OnnxCall& call, PerAxis kernel) {
  const std::size_t axes = kernel.size();
  if (static_cast<int>(axes) + 2 != call.rank(0))
    OnnxCall::fail("takes [batch, channels, space...]");
  Window window;
  window.kernel = std::move(kernel);
  window.stride = per_axis(call, "strides", axes, 1);
  window.dilation = per_axis(call, "dilations", axes, 1);
  window.padding = per_axis(call, "pads", 2 * axes, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    if (std::min({window.kernel[i], window.stride[i], window.dilation[i]}) < 1) {
      OnnxCall::fail("kernel, stride and dilation are at least 1");
    }
    if (window.kernel[i] >= kMostWindow) OnnxCall::fail("the kernel is absurd");
  }
  return window;
}

// SAME pads so that the output has ceil(input / stride) values; the odd one goes to the end
// (UPPER) or the beginning (LOWER).
void pad_same(const OnnxCall& call, Window& window) {
  const std::string_view mode = call.text("auto_pad", "NOTSET");
  const std::size_t axes = window.kernel.size();
  if (mode == "VALID") window.padding.assign(2 * axes, 0);
  if (!mode.starts_with("SAME")) return;
  for (std::size_t i = 0; i < axes; ++i) {
    const Dim& size = call.shape(0)[static_cast<int>(i) + 2];
    const std::int64_t stride = window.stride[i];
    std::int64_t total = window.reach(i) - 1;
    if (is_number(size)) {
      const std::int64_t steps = (size.factor + stride - 1) / stride;
      total = std::max<std::int64_t>((steps - 1) * stride + window.reach(i) - size.factor, 0);
    }
    const std::int64_t less = total / 2;
    window.padding[i] = mode == "SAME_UPPER" ? less : total - less;
    window.padding[i + axes] = total - window.padding[i];
  }
}

std::vector<Dim> dims_of(const PerAxis& values) { return {values.begin(), values.end()}; }

void set_unless(Attributes& attributes, Attr key, const PerAxis& values, std::int64_t usual) {
  const bool all_usual =
      std::all_of(values.begin(), values.end(), [=](auto v) { return v == usual; });
  if (!all_usual) attributes.set(key, dims_of(values));
}

void set_padding(Attributes& attributes, const PerAxis& padding) {
  const auto axes = static_cast<std::ptrdiff_t>(padding.size() / 2);
  const bool even = std::equal(padding.begin(), padding.begin() + axes, padding.begin() + axes);
  const PerAxis before(padding.begin(), padding.begin() + axes);
  set_unless(attributes, Attr::Padding, even ? before : padding, 0);
}

// The spatial part of the weight's shape.
PerAxis kernel_of(const OnnxCall& call) {
  const Shape& weight = call.shape(1);
  PerAxis kernel;
  for (int i = 2; i < weight.rank(); ++i) {
    if (!is_number(weight[i])) OnnxCall::fail("the weight's window has the size of a symbol");
    kernel.push_back(weight[i].factor);
  }
  if (kernel.empty() || call.rank(0) != weight.rank()) {
    OnnxCall::fail("takes [batch, channels, space...] and a weight of the same rank");
  }
  return kernel;
}

// What PyTorch's exporter writes for a bias that is not there.
bool is_computed_zeros(const OnnxValue& bias) {
  if (bias.stored != nullptr || bias.known == OnnxValue::Known::Nothing) return false;
  return std::all_of(bias.content.begin(), bias.content.end(),
                     [](const Scalar& value) { return value.number() == 0; });
}

std::vector<TensorId> layer_inputs(const OnnxCall& call) {
  std::vector<TensorId> inputs{call.tensor(0), call.weight(1)};
  if (call.has(2) && !is_computed_zeros(call.in(2))) inputs.push_back(call.weight(2));
  return inputs;
}

Kind activation_of(const OnnxCall& call) {
  const std::string_view name = call.text("activation", "");
  if (name == "Relu") return Kind::Relu;
  if (name == "Sigmoid") return Kind::Sigmoid;
  if (name == "Tanh") return Kind::Tanh;
  if (name == "LeakyRelu") return Kind::LeakyRelu;
  return name.empty() ? Kind::Identity : Kind::Clip;
}

void conv(const OnnxCall& call, Kind kind) {
  Window window = window_of(call, kernel_of(call));
  pad_same(call, window);
  Attributes attributes;
  set_unless(attributes, Attr::Stride, window.stride, 1);
  set_unless(attributes, Attr::Dilation, window.dilation, 1);
  set_padding(attributes, window.padding);
  if (call.integer("group", 1) != 1) attributes.set(Attr::Groups, {Dim(call.integer("group", 1))});
  TensorId result = call.emit(kind, layer_inputs(call), attributes);
  const Kind activation = activation_of(call);
  if (activation != Kind::Identity) result = call.emit(activation, {result});
  call.give(0, result);
}

// What is cut off from each axis of a transposed convolution's result, and what is added at
// its end. Source: the formulas of ONNX's ConvTranspose.
void conv_transpose(const OnnxCall& call, Kind kind) {
  const Window window = window_of(call, kernel_of(call));
  const std::size_t axes = window.kernel.size();
  const PerAxis extra = per_axis(call, "output_padding", axes, 0);
  PerAxis wanted = call.integers("output_shape");
  for (const std::int64_t size : wanted) {
    if (size < 0 || size >= kMostWindow) OnnxCall::fail("'output_shape' is absurd");
  }
  if (wanted.size() == axes + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  const bool same = call.text("auto_pad", "NOTSET").starts_with("SAME");
  PerAxis cut(axes, 0);
  PerAxis added = extra;
  for (std::size_t i = 0; i < axes; ++i) {
    const Dim& size = call.shape(0)[static_cast<int>(i) + 2];
    std::int64_t total = window.padding[i] + window.padding[i + axes];
    if (same || wanted.size() == axes) {
      if (!is_number(size) || size.factor >= kMostWindow)
        OnnxCall::fail(
            "a transposed window over an axis whose size is a symbol; give the symbol a value");
      const std::int64_t stride = window.stride[i];
      const std::int64_t target = wanted.size() == axes ? wanted[i] : size.factor * stride;
      total = stride * (size.factor - 1) + extra[i] + window.reach(i) - target;
    }
    cut[i] = std::max<std::int64_t>((total + 1) / 2, 0);
    added[i] += 2 * cut[i] - total;
    if (cut[i] >= kMostWindow || added[i] < 0 || added[i] >= kMostWindow)
      OnnxCall::fail("an absurd window");
  }
  Attributes attributes{{Attr::Transposed, {Dim(1)}}};
  set_unless(attributes, Attr::Stride, window.stride, 1);
  set_unless(attributes, Attr::Dilation, window.dilation, 1);
  set_unless(attributes, Attr::Padding, cut, 0);
  set_unless(attributes, Attr::OutputPadding, added, 0);
  if (call.integer("group", 1) != 1) attributes.set(Attr::Groups, {Dim(call.integer("group", 1))});
  call.give(0, call.emit(kind, layer_inputs(call), attributes));
}

void pool(const OnnxCall& call, Kind kind) {
  Window window = window_of(call, call.integers("kernel_shape"));
  pad_same(call, window);
  Attributes attributes{{Attr::Kernel, dims_of(window.kernel)}};
  set_unless(attributes, Attr::Stride, window.stride, 1);
  set_unless(attributes, Attr::Dilation, window.dilation, 1);
  set_padding(attributes, window.padding);
  if (call.integer("ceil_mode", 0) != 0) attributes.set(Attr::CeilMode, {Dim(1)});
  const std::vector<TensorId> outputs = call.emit_all(kind, {call.tensor(0)}, attributes);
  call.give(0, outputs[0]);
  if (outputs.size() > 1) call.give(1, outputs[1]);
}

void global_average_pool(const OnnxCall& call, Kind kind) {
  call.give(0, call.emit(kind, {call.tensor(0)}, {{Attr::Sizes, {Dim(1)}}}));
}

void global_max_pool(const OnnxCall& call, Kind kind) {
  const Shape& x = call.shape(0);
  if (x.rank() < 3) OnnxCall::fail("takes [batch, channels, space...]");
  std::vector<Dim> kernel(x.dims().begin() + 2, x.dims().end());
  if (std::all_of(kernel.begin(), kernel.end(), graph::is_number)) {
    return call.give(0, call.emit(kind, {call.tensor(0)}, {{Attr::Kernel, kernel}}));
  }
  Shape result{x[0], x[1]};
  for (int i = 2; i < x.rank(); ++i) result.push_back(Dim(1));
  give_opaque(call, result, call.in(0).type);
}

constexpr std::array kRules{
    OnnxRule{"Conv", conv, Kind::Conv},
    OnnxRule{"ConvTranspose", conv_transpose, Kind::Conv},
    OnnxRule{"MaxPool", pool, Kind::MaxPool},
    OnnxRule{"AveragePool", pool, Kind::AvgPool},
    OnnxRule{"LpPool", pool, Kind::AvgPool},
    OnnxRule{"GlobalAveragePool", global_average_pool, Kind::AdaptiveAvgPool},
    OnnxRule{"GlobalLpPool", global_average_pool, Kind::AdaptiveAvgPool},
    OnnxRule{"GlobalMaxPool", global_max_pool, Kind::MaxPool},
    OnnxRule{"FusedConv", conv, Kind::Conv, kMicrosoft},
};

}  // namespace

std::span<const OnnxRule> onnx_window_rules() { return kRules; }

}  // namespace foretrain::importer

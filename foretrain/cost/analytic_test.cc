// SPDX-License-Identifier: Apache-2.0
// Laws that hold for every operator on every device.
#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/cost/test_device.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

TensorId conv(Builder& b, const std::string& name, TensorId x, std::int64_t out,
              std::int64_t kernel, std::int64_t stride, std::int64_t groups) {
  const std::int64_t in = b.shape(x)[1].factor;
  const TensorId w = b.parameter(name, {out, in / groups, kernel, kernel});
  return b.add(Kind::Conv, {x, w},
               {{Attr::Stride, {stride}}, {Attr::Padding, {kernel / 2}}, {Attr::Groups, {groups}}});
}

TensorId norm(Builder& b, const std::string& name, TensorId x) {
  const graph::Shape each{b.shape(x)[1]};
  const TensorId y =
      b.add(Kind::BatchNorm, {x, b.parameter(name + "w", each), b.parameter(name + "b", each)});
  return b.add(Kind::Relu, {y});
}

// Convolutions of every kind, pooling, attention, a recurrent layer, embedding and losses.
graph::Graph model() {
  Builder b("laws");
  TensorId x = b.input("images", {b.batch(), 3, 32, 32});
  x = norm(b, "n1", conv(b, "c1", x, 48, 7, 2, 1));
  x = b.add(Kind::MaxPool, {x}, {{Attr::Kernel, {3}}, {Attr::Stride, {1}}, {Attr::Padding, {1}}});
  x = b.add(Kind::Add, {x, norm(b, "n2", conv(b, "c2", x, 48, 3, 1, 1))});
  x = norm(b, "n3", conv(b, "c3", x, 48, 3, 1, 48));
  x = norm(b, "n4", conv(b, "c4", x, 96, 3, 1, 4));
  x = norm(b, "n5", conv(b, "c5", x, 96, 1, 1, 1));
  TensorId tokens = b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, 96, 256}}});
  tokens = b.add(Kind::Transpose, {tokens}, {{Attr::Axes, {0, 2, 1}}});
  tokens = b.add(Kind::LayerNorm, {tokens, b.parameter("lw", {96}), b.parameter("lb", {96})});
  const TensorId wide = b.add(Kind::Linear, {tokens, b.parameter("up", {384, 96})});
  tokens = b.add(Kind::Linear, {b.add(Kind::Gelu, {wide}), b.parameter("down", {96, 384})});
  TensorId heads = b.add(Kind::Reshape, {tokens}, {{Attr::Shape, {0, 256, 3, 32}}});
  heads = b.add(Kind::Transpose, {heads}, {{Attr::Axes, {0, 2, 1, 3}}});
  heads = b.add(Kind::Attention, {heads, heads, heads}, {{Attr::Causal, {1}}});
  const TensorId scores = b.add(Kind::MatMul, {heads, heads}, {{Attr::TransposeB, {1}}});
  const TensorId shares = b.add(Kind::Softmax, {scores}, {{Attr::Axis, {-1}}});
  TensorId y = b.add(Kind::Dropout, {b.add(Kind::MatMul, {shares, heads})});
  y = b.add(Kind::Reshape, {y}, {{Attr::Shape, {0, 256, 96}}});
  y = b.add(Kind::Recurrent, {y, b.parameter("wi", {384, 96}), b.parameter("wh", {384, 96})},
            {{Attr::Hidden, {96}}, {Attr::Gates, {4}}, {Attr::BatchFirst, {1}}});
  const TensorId ids = b.input("ids", {b.batch(), 256}, DType::I64);
  y = b.add(Kind::Add, {y, b.add(Kind::Embedding, {ids, b.parameter("table", {500, 96})})});
  y = b.add(Kind::Mean, {y}, {{Attr::Axes, {1}}});
  y = b.add(Kind::Linear, {y, b.parameter("head", {10, 96}), b.parameter("bias", {10})});
  b.loss(b.add(Kind::CrossEntropy, {y, b.input("labels", {b.batch()}, DType::I64)}));
  return b.finish();
}

graph::Graph step_in(Precision precision, const Framework& framework) {
  graph::Graph step = graph::set_precision(model(), precision, framework.casting);
  step =
      graph::update(graph::backward(std::move(step), framework.gradients), graph::Optimizer::Adam);
  return graph::fuse(step, framework.fusion);
}

std::vector<double> times(const graph::Graph& step, std::int64_t batch, const hw::Device& device,
                          const Framework& framework, Precision precision) {
  const graph::Bound bound = graph::bind(step, {{"batch", batch}});
  const Context context = context_for(device, framework, precision, test_model());
  std::vector<double> result;
  for (const graph::Node& node : step.nodes) {
    const graph::NodeView view{bound, node};
    const OpTime time = analytic_time(view, graph::work(view), context);
    EXPECT_TRUE(std::isfinite(time.total.count()));
    EXPECT_GE(time.total, Seconds{0});
    EXPECT_EQ(time.kernels == 0, time.total == Seconds{0});
    result.push_back(time.total.count());
  }
  return result;
}

std::vector<hw::Device> devices() {
  std::vector<hw::Device> list{v100(), round_device(), test_cpu()};
  for (const char* architecture : {"kepler", "pascal", "turing", "ampere", "ada", "hopper"}) {
    hw::Device device = round_device();
    device.architecture = architecture;
    device.tdp_w = 200;
    device.l2_bytes = 4e6;
    device.tensor_fp8_flops_per_s = 200e12;
    list.push_back(device);
    device.tensor_fp16_flops_per_s.reset();
    device.tensor_bf16_flops_per_s.reset();
    device.tensor_tf32_flops_per_s.reset();
    list.push_back(device);
  }
  list.push_back(hw::Device{});
  return list;
}

struct Case {
  const char* framework;
  Precision precision;
};
constexpr Case kCases[] = {{"pytorch", Precision::Fp32},    {"pytorch-1", Precision::Fp16},
                           {"megatron", Precision::Bf16},   {"nvidia", Precision::Tf32},
                           {"tensorflow", Precision::Fp16}, {"pytorch-compile", Precision::Fp8},
                           {"mxnet", Precision::Fp64}};

void expect_no_slower(const graph::Graph& step, const std::vector<double>& now,
                      const std::vector<double>& before, const std::string& what) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_LE(now[i], before[i] * (1 + 1e-12)) << what << ": " << graph::describe(step.nodes[i]);
  }
}

void raise_peaks(hw::Device& device) {
  device.fp32_flops_per_s *= 1.3;
  for (std::optional<double>* peak :
       {&device.fp16_flops_per_s, &device.fp64_flops_per_s, &device.tensor_fp16_flops_per_s,
        &device.tensor_bf16_flops_per_s, &device.tensor_tf32_flops_per_s,
        &device.tensor_fp8_flops_per_s}) {
    if (*peak) **peak *= 1.3;
  }
}

TEST(AnalyticTime, BetterDevicesAreNeverSlower) {
  for (const Case& c : kCases) {
    const Framework& framework = framework_named(c.framework);
    const graph::Graph step = step_in(c.precision, framework);
    for (const hw::Device& device : devices()) {
      const std::vector<double> base = times(step, 12, device, framework, c.precision);
      hw::Device peak = device;
      raise_peaks(peak);
      expect_no_slower(step, times(step, 12, peak, framework, c.precision), base, "peak");
      hw::Device memory = device;
      memory.memory_bytes_per_s *= 1.3;
      expect_no_slower(step, times(step, 12, memory, framework, c.precision), base, "bandwidth");
      hw::Device power = device;
      power.tdp_w *= 1.3;
      expect_no_slower(step, times(step, 12, power, framework, c.precision), base, "power");
    }
  }
}

TEST(AnalyticTime, LargerBatchesAreNeverFaster) {
  for (const Case& c : kCases) {
    const Framework& framework = framework_named(c.framework);
    const graph::Graph step = step_in(c.precision, framework);
    for (const hw::Device& device : devices()) {
      std::vector<double> before = times(step, 1, device, framework, c.precision);
      for (const std::int64_t batch : {2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 100, 333}) {
        std::vector<double> now = times(step, batch, device, framework, c.precision);
        expect_no_slower(step, before, now, "batch " + std::to_string(batch));
        before = std::move(now);
      }
    }
  }
}

TEST(AnalyticTime, ViewsAreFree) {
  const Framework& framework = framework_named("pytorch");
  const graph::Graph step = step_in(Precision::Fp32, framework);
  const std::vector<double> all = times(step, 8, v100(), framework, Precision::Fp32);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i] == 0, graph::is_view(step.nodes[i]));
  }
}

}  // namespace
}  // namespace foretrain::cost

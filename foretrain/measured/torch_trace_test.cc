// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/torch_trace.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/op.h"

namespace foretrain::measured {
namespace {

// "cat", name, thread, begin and duration in microseconds, args.
std::string event(const std::string& category, const std::string& name, int thread, int begin,
                  int duration, const std::string& args = "") {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 1, "tid": )" + std::to_string(thread) + R"(, "ts": )" +
         std::to_string(begin) + R"(.5, "dur": )" + std::to_string(duration) + R"(, "args": {)" +
         args + "}},\n";
}

std::string whole(const std::string& events) {
  return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "T4"}], "traceEvents": [)" +
         events + R"({"ph": "i", "name": "Record Window End", "pid": "", "ts": 1}],
         "traceName": "x"})";
}

std::string id(int number) { return R"("External id": )" + std::to_string(number); }

const std::string kLinear =
    R"(, "Input Dims": [[8, 64], [32, 64], [32]], "Input type": ["float", "float", "float"],
       "Concrete Inputs": ["", "", ""])";
const std::string kProduct =
    R"(, "Input Dims": [[32, 8], [8, 64]], "Input type": ["float", "float"])";

// A step of 2 ms that begins at `begin`: a linear layer whose kernel is launched by the GEMM
// inside it, an activation with two kernels, and a GEMM of the backward pass, on a thread of
// its own, whose kernel is found by its launch.
std::string gpu_step(int number, int begin, int kernel_us) {
  const int first = 10 * number;
  const std::string step = "ProfilerStep#" + std::to_string(number);
  return event("user_annotation", step, 1, begin, 2000) +
         event("cpu_op", "aten::addmm", 1, begin + 120, 50,
               id(first + 2) + R"(, "Input Dims": [[32], [8, 64], [64, 32]],
               "Input type": ["float", "float", "float"])") +
         event("cpu_op", "aten::linear", 1, begin + 100, 100, id(first + 1) + kLinear) +
         event("cpu_op", "aten::relu", 1, begin + 300, 20,
               id(first + 3) + R"(, "Input Dims": [[8, 32]], "Input type": ["float"])") +
         event("cpu_op", "aten::mm", 2, begin + 500, 60, id(first + 4) + kProduct) +
         event("cuda_runtime", "cudaLaunchKernel", 2, begin + 510, 9,
               id(first + 4) + R"(, "correlation": )" + std::to_string(first + 9)) +
         event("kernel", "sgemm", 7, begin + 400, kernel_us, id(first + 2)) +
         event("kernel", "relu", 7, begin + 1300, 30, id(first + 3)) +
         event("kernel", "relu", 7, begin + 1330, 20, id(first + 3)) +
         event("kernel", "sgemm", 7, begin + 1400, 70,
               R"("correlation": )" + std::to_string(first + 9));
}

std::string gpu_trace() {
  return whole(gpu_step(0, 0, 900) + gpu_step(1, 2000, 400) + gpu_step(2, 4000, 500) +
               gpu_step(3, 6000, 600) +
               event("gpu_user_annotation", "ProfilerStep#2", 7, 4100, 1500) +
               event("gpu_user_annotation", "ProfilerStep#2", 8, 5600, 800) +
               event("user_annotation", "ProfilerStep#4", 1, 8000, 1));
}

const Row* find(const TorchTrace& trace, const std::string& kind) {
  for (const Row& row : trace.operators) {
    if (cell(row, "kind") == kind) return &row;
  }
  return nullptr;
}

double seconds(const Row& row) { return std::stod(std::string(cell(row, "time_s"))); }

std::string problem(const std::string& text) {
  try {
    parse_torch_trace(text, "file x");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// The first step warms up, the fifth span holds no operator. Of the third the kernels, on two
// streams, take from 4100 to 6400: 2.3 ms, longer than the host's 2 ms.
TEST(TorchTrace, StepsAreTheSpansWithoutTheFirst) {
  const TorchTrace trace = parse_torch_trace(gpu_trace(), "x");
  ASSERT_EQ(trace.steps_s.size(), 3U);
  EXPECT_DOUBLE_EQ(trace.steps_s[0], 0.002);
  EXPECT_DOUBLE_EQ(trace.steps_s[1], 0.0023);
  EXPECT_DOUBLE_EQ(step_of(trace), 0.002);
}

// Kernels of 400, 500 and 600 us (900 in the first step) belong to the linear layer around the
// GEMM; the activation has 30 + 20 us.
TEST(TorchTrace, OnAGpuKernelsAreAnOperatorsTime) {
  const TorchTrace trace = parse_torch_trace(gpu_trace(), "x");
  EXPECT_TRUE(trace.gpu);
  ASSERT_EQ(trace.operators.size(), 3U);
  const Row* linear = find(trace, "linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(cell(*linear, "shapes"), "8x64;32x64;32");
  EXPECT_EQ(cell(*linear, "dtype"), "f32");
  EXPECT_EQ(cell(*linear, "direction"), "forward");
  EXPECT_EQ(cell(*linear, "repeats"), "3");
  EXPECT_DOUBLE_EQ(seconds(*linear), 500e-6);
  EXPECT_DOUBLE_EQ(seconds(*find(trace, "relu")), 50e-6);
  EXPECT_EQ(cell(*find(trace, "matmul"), "shapes"), "32x8;8x64");
  EXPECT_DOUBLE_EQ(seconds(*find(trace, "matmul")), 70e-6);
}

// 2 * 8 * 64 * 32 flops.
TEST(TorchTrace, OperatorsBecomeCases) {
  const TorchTrace trace = parse_torch_trace(gpu_trace(), "x");
  const OperatorCases cases = traced_operators(trace, "t4", Precision::Fp32);
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0]->op, "linear");
  EXPECT_EQ(cases[0]->device, "t4");
  EXPECT_EQ(cases[0]->overhead_s, 0);
  EXPECT_EQ(graph::work({cases[0]->bound, cases[0]->graph.nodes[0]}).flops, 2.0 * 8 * 64 * 32);
}

// Without kernels the spans on the host count, the outermost known one: 100 us of the linear layer,
// not the 50 of the GEMM inside it. Without steps all operators do.
TEST(TorchTrace, OnACpuSpansAreAnOperatorsTime) {
  const TorchTrace trace = parse_torch_trace(
      whole(event("cpu_op", "aten::linear", 1, 100, 100, id(1) + kLinear) +
            event("cpu_op", "aten::mm", 1, 120, 50, id(2) + kProduct) +
            event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, 300, 90) +
            event("cpu_op", "aten::mm", 1, 310, 60, id(3) + kProduct)),
      "x");
  EXPECT_FALSE(trace.gpu);
  EXPECT_TRUE(trace.steps_s.empty());
  ASSERT_EQ(trace.operators.size(), 2U);
  EXPECT_DOUBLE_EQ(seconds(*find(trace, "linear")), 100e-6);
  EXPECT_DOUBLE_EQ(seconds(*find(trace, "matmul")), 60e-6);
}

// Input and weight gradients of 2 images of 3x8x8 by 4 windows of 3x3: 2 * 2 * 2 * 4 * 64 * 27.
TEST(TorchTrace, AConvolutionsGradientIsBothOfThem) {
  const std::string shapes =
      R"("Input Dims": [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], [], []],
         "Input type": ["float", "float", "float", "ScalarList", "ScalarList", "ScalarList",
                        "ScalarList", "Scalar", "ScalarList", "Scalar", ""],
         "Concrete Inputs": ["", "", "", "[4]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]",
                             "1", )";
  const auto cases = [&](const std::string& wanted) {
    const std::string args = shapes + "\"" + wanted + "\"]";
    const TorchTrace trace =
        parse_torch_trace(whole(event("cpu_op", "aten::convolution_backward", 1, 0, 100, args) +
                                event("cpu_op", "aten::linear", 1, 200, 100, id(1) + kLinear)),
                          "x");
    return traced_operators(trace, "cpu:cores=1", Precision::Fp32);
  };
  const OperatorCases both = cases("[True, True, True]");
  ASSERT_EQ(both.size(), 2U);
  double flops = 0;
  for (const graph::Node& node : both[0]->graph.nodes) {
    if (node.phase == both[0]->phase) flops += graph::work({both[0]->bound, node}).flops;
  }
  EXPECT_EQ(flops, 2 * 2.0 * 2 * 4 * 64 * 27);
  EXPECT_EQ(cases("[False, True, True]").size(), 1U);  // of a first layer: the weight's alone
}

TEST(TorchTrace, SaysWhatIsWrong) {
  EXPECT_NE(problem("\x1f\x8b\x08").find("gunzip"), std::string::npos);
  EXPECT_NE(problem("[1, 2").find("file x: not a trace"), std::string::npos);
  EXPECT_NE(problem(R"({"traceEvents": []})").find("record_shapes=True"), std::string::npos);
  EXPECT_NE(problem(R"({"model": "resnet50"})").find("no measured step"), std::string::npos);
  EXPECT_NE(problem(R"({"traceEvents": [{"a": )" + std::string(40, '[')).find("nested"),
            std::string::npos);
  std::string many = R"({"traceEvents": [{"args": [1)";
  for (int i = 0; i < 100'000; ++i) many += ",1";
  EXPECT_NE(problem(many + "]}]}").find("more values"), std::string::npos);
}

// What other fields hold is not kept, and odd events are passed over.
TEST(TorchTrace, LooksAtNothingElse) {
  std::string other = R"({"other": [1)";
  for (int i = 0; i < 200; ++i) other += R"(, {"ph": "X", "cat": "cpu_op"})";
  const TorchTrace trace = parse_torch_trace(
      other + R"(], "traceEvents": [1, "x", null, [{"ph": "X"}], {"ph": "X", "cat": 3, "ts": "now"},
      {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "ts": 1e300, "dur": 1},
      {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "ts": 1, "dur": 1,
       "args": {"Input Dims": "none", "Input type": [3]}},)" +
          event("cpu_op", "aten::linear", 1, 0, 10, kLinear.substr(2)) + R"({}]})",
      "x");
  EXPECT_EQ(trace.operators.size(), 1U);
}

}  // namespace
}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/collected_operators.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/graph/op.h"
#include "foretrain/measured/operator_file.h"

namespace foretrain::measured {
namespace {

class CollectedOperators : public ::testing::Test {
 protected:
  ~CollectedOperators() override { std::filesystem::remove(path_); }

  OperatorCases read(const std::string& rows) {
    std::ofstream(path_) << "machine,source,split,kind,shapes,attributes,dtype,direction,time_s\n"
                         << rows;
    return read_operators(path_);
  }

  std::string problem(const std::string& rows) {
    try {
      read(rows);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / "foretrain_collected_operators_test.csv";
};

// 2 images of 3x8x8 to 4 channels by 3x3 windows with padding 1: 2 * 2 * 4 * 64 * 27 flops.
TEST_F(CollectedOperators, AForwardRowIsTheOperator) {
  const OperatorCases cases =
      read("lab-1,collect,,conv,2x3x8x8;4x3x3x3,\"{\"\"padding\"\":1}\",f32,forward,0.001\n");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0]->op, "conv");
  EXPECT_EQ(cases[0]->measured_s, 0.001);
  const graph::NodeView view{cases[0]->bound, cases[0]->graph.nodes[0]};
  EXPECT_EQ(graph::work(view).flops, 2.0 * 2 * 4 * 64 * 27);
}

TEST_F(CollectedOperators, RunOnTheDeviceThatTheirMachineNames) {
  const std::string row = ",collect,,relu,2x3,{},f32,forward,0.001\n";
  EXPECT_EQ(read("lab-1" + row)[0]->device, "cpu:cores=1");
  EXPECT_EQ(read("lab-1@Tesla T4" + row)[0]->device, "Tesla T4");
  EXPECT_EQ(read("a100" + row)[0]->device, "a100");
}

// Gradients of input and weight: twice the forward pass's GEMMs.
TEST_F(CollectedOperators, ABackwardRowIsItsGradients) {
  const OperatorCases cases =
      read("lab-1,collect,,conv,2x3x8x8;4x3x3x3,\"{\"\"padding\"\":1}\",f32,backward,0.001\n");
  double flops = 0;
  for (const graph::Node& node : cases[0]->graph.nodes) {
    if (node.phase != cases[0]->phase) continue;
    flops += graph::work({cases[0]->bound, node}).flops;
  }
  EXPECT_EQ(flops, 2 * 2.0 * 2 * 4 * 64 * 27);
  EXPECT_GT(cases[0]->overhead_s, 0);
}

TEST_F(CollectedOperators, IndicesAreNoNumbersToLearn) {
  const OperatorCases cases = read(
      "lab-1,collect,,embedding,2x16;1000x32,{},f32,backward,0.001\n"
      "lab-1,collect,,cross_entropy,8x10;8,{},f32,backward,0.001\n");
  EXPECT_EQ(cases.size(), 2U);
}

TEST_F(CollectedOperators, NamesTheLineOfAMistake) {
  EXPECT_NE(problem("m,c,,conv,2x3x8x8;4x5x3x3,{},f32,forward,0.001\n").find("line 2"),
            std::string::npos);  // channels do not fit
  EXPECT_NE(problem("m,c,,nothing,2x3,{},f32,forward,0.001\n").find("not known"),
            std::string::npos);
  EXPECT_NE(problem("m,c,,relu,2x0,{},f32,forward,0.001\n").find("not a shape"), std::string::npos);
  EXPECT_NE(problem("m,c,,relu,2x3,[],f32,forward,0.001\n").find("JSON object"), std::string::npos);
  EXPECT_NE(problem("m,c,,relu,2x3,{},f32,forward,nan\n").find("above 0"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/operator_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/graph/op.h"

namespace foretrain::measured {
namespace {

// A file that is gone afterwards.
class OperatorFile : public ::testing::Test {
 protected:
  ~OperatorFile() override { std::filesystem::remove(path_); }

  OperatorCases read(const std::string& text, std::size_t stride = 1) {
    std::ofstream(path_) << text;
    return read_operators(path_, stride);
  }

  std::string problem(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / "foretrain_operator_file_test.csv";
};

constexpr const char* kProducts = "split,vendor,device,op,B,M,N,K,latency_ms\n";

// B, M, N, K are batch, rows, length of the sums, columns: 2 * 3 * 5 * 7 * 11 flops.
TEST_F(OperatorFile, ReadsProducts) {
  const OperatorCases cases =
      read(std::string(kProducts) + "train,nvidia,Tesla T4,bmm,3,5,7,11,0.25\n" +
           "test,nvidia,Tesla T4,linear,1,5,7,11,0.5\n");
  ASSERT_EQ(cases.size(), 2U);
  const graph::NodeView bmm{cases[0]->bound, cases[0]->graph.nodes[0]};
  EXPECT_EQ(graph::work(bmm).flops, 2.0 * 3 * 5 * 7 * 11);
  EXPECT_EQ(cases[0]->measured_s, 0.25e-3);
  EXPECT_EQ(cases[0]->split, "train");
  const graph::NodeView linear{cases[1]->bound, cases[1]->graph.nodes[0]};
  EXPECT_EQ(linear.node.kind, graph::Kind::Linear);
  EXPECT_EQ(graph::work(linear).flops, 2.0 * 5 * 7 * 11);
  EXPECT_EQ(cases[1]->split, "test");
}

TEST_F(OperatorFile, ReadsEveryNthRow) {
  std::string text = kProducts;
  for (int i = 1; i <= 7; ++i) text += "train,nvidia,T4,bmm,1,1,1," + std::to_string(i) + ",1\n";
  EXPECT_EQ(read(text, 3).size(), 3U);
}

// Rows of no work beside a line of 50 us + 2 us per row: that is the overhead of every row.
TEST_F(OperatorFile, FindsTheDriftOfConvolutions) {
  std::string text =
      "split,vendor,device,op,B,in_channels,out_channels,kernel,input,stride,padding,latency_ms\n";
  for (int i = 0; i < 1000; ++i) {
    const bool small = i % 10 == 0;
    const double us = 50 + 2 * i + (small ? 0 : 3000);
    text += std::string("train,nvidia,T4,conv,") + (small ? "1,3,3,3,5" : "8,64,64,3,56") +
            ",1,1," + std::to_string(us / 1e3) + "\n";
  }
  const OperatorCases cases = read(text);
  EXPECT_NEAR(cases[0]->overhead_s, 50e-6, 1e-7);
  EXPECT_NEAR(cases[999]->overhead_s, 50e-6 + 2 * 999e-6, 1e-6);
}

TEST_F(OperatorFile, TellsAlgorithmsOfConvolutionsByTheirKernels) {
  const std::string head =
      "split,vendor,device,op,B,in_channels,out_channels,kernel,input,stride,padding,latency_ms,"
      "kernels\n";
  const std::string row = "train,nvidia,T4,conv,1,3,3,3,5,1,1,1,";
  const OperatorCases cases =
      read(head + row + "void cudnn::winograd_nonfused::x;volta_sgemm\n" + row +
           "void generatewinogradtileskernel;volta_scudnn_winograd\n" + row +
           "void computeoffsetskernel;volta_scudnn_128x64\n" + row + "void fft2d_r2c_32x32\n");
  EXPECT_EQ(cases[0]->algorithm, cost::ConvAlgorithm::UnfusedWinograd);
  EXPECT_EQ(cases[1]->algorithm, cost::ConvAlgorithm::FusedWinograd);
  EXPECT_EQ(cases[2]->algorithm, cost::ConvAlgorithm::Implicit);
  EXPECT_FALSE(cases[3]->algorithm);
}

TEST_F(OperatorFile, NamesTheLineOfAMistake) {
  const std::string head = kProducts;
  EXPECT_NE(problem(head + "train,nvidia,T4,bmm,1,2,x,4,1\n").find("line 2"), std::string::npos);
  EXPECT_NE(problem(head + "train,nvidia,T4,bmm,1,2,0,4,1\n").find("N is not a size"),
            std::string::npos);
  EXPECT_NE(problem(head + "train,nvidia,T4,bmm,1,2,3,4,0\n").find("latency_ms"),
            std::string::npos);
  EXPECT_NE(problem("a,b\n1,2\n").find("not a known file"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/operator_clock.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/test_files.h"

namespace foretrain::evaluate {
namespace {

TEST(OperatorClock, TimesAreThoseOfTheModelAndTheOverhead) {
  const measured::TestFolder folder;
  const measured::OperatorCases cases =
      measured::read_operators(folder.write("gemm.csv",
                                            "split,vendor,device,op,B,M,N,K,latency_ms\n"
                                            "train,nvidia,Tesla T4,bmm,1,4096,4096,4096,1\n"));
  const hw::Catalog catalog = hw::load_catalog();
  const Library library = load_library();
  OperatorClock clock(catalog, *library.operators);
  const double time = clock.time_s(*cases[0]);
  // 2 * 4096^3 flops cannot take less than at T4's peak of 8.1 TFLOP/s.
  EXPECT_GT(time, 2 * std::pow(4096.0, 3) / 8.2e12 + cases[0]->overhead_s);
  cases[0]->device = "none such";
  EXPECT_THROW(clock.time_s(*cases[0]), Error);
}

}  // namespace
}  // namespace foretrain::evaluate

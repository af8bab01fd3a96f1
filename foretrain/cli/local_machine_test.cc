// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/local_machine.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::cli {
namespace {

TEST(LocalMachine, IsDescribed) {
  const Outcome outcome = run_program({"devices", "--local", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json machine = parse_json(outcome.out);
  EXPECT_GE(machine["cpu"]["threads"].get<int>(), machine["cpu"]["cores"].get<int>());
  EXPECT_GE(machine["cpu"]["cores"].get<int>(), 1);
  EXPECT_GT(machine["memory_bytes"].get<double>(), 1e8);
  EXPECT_TRUE(machine["gpus"].is_array());
  EXPECT_TRUE(machine["nics"].is_array());
  // What it calls the CPU is a device of a request.
  const auto device = machine["cpu"]["device"].get<std::string>();
  EXPECT_EQ(run_program({"predict", "mlp", "--device", device, "--batch", "1"}).code, 0);
  EXPECT_NE(run_program({"devices", "--local"}).out.find("memory"), std::string::npos);
  EXPECT_EQ(run_program({"devices", "t4", "--local"}).code, 2);
}

TEST(LocalMachine, FindsGpusInTheCatalog) {
  const hw::Catalog catalog = hw::load_catalog();
  EXPECT_EQ(catalog_name(catalog, "Tesla T4"), "t4");
  EXPECT_EQ(catalog_name(catalog, "NVIDIA A100-SXM4-80GB"), "a100-sxm4-80gb");
  EXPECT_EQ(catalog_name(catalog, "NVIDIA GeForce RTX 3090"), "rtx-3090");
  EXPECT_EQ(catalog_name(catalog, "NVIDIA Nothing 9"), std::nullopt);
  EXPECT_EQ(catalog_name(catalog, ""), std::nullopt);
}

}  // namespace
}  // namespace foretrain::cli

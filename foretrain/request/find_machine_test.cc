// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_machine.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/request/resolve.h"

namespace foretrain {
namespace {

Resolved resolved(const std::string& fields) {
  static const Library library = load_library();
  return resolve(parse_request("{" + fields + "}", "test"), library);
}

bool says(const Resolved& resolved, const std::string& part) {
  for (const std::string& line : resolved.assumptions) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(FindHostSpeed, IsStatedOrUsualBesideTheDevice) {
  EXPECT_EQ(resolved(R"("model":"mlp","device":"p100","host_speed":2)").host_speed, 2);
  const Resolved usual = resolved(R"("model":"mlp","device":"p100")");
  EXPECT_LT(usual.host_speed, 1);
  EXPECT_TRUE(says(usual, "usual beside pascal"));
  EXPECT_EQ(resolved(R"("model":"mlp","device":"cpu:cores=4")").host_speed, 1);
}

TEST(FindHostSpeed, KnowsFamiliesOfCpus) {
  const Resolved named = resolved(R"("model":"mlp","device":"v100","host":"xeon-e5")");
  EXPECT_EQ(named.host_speed, resolved(R"("model":"mlp","device":"p100")").host_speed);
  EXPECT_TRUE(says(named, "usual of xeon-e5"));
  EXPECT_THROW(resolved(R"("model":"mlp","device":"v100","host":"xeon")"), Error);
  EXPECT_THROW(resolved(R"("model":"mlp","device":"v100","host":"xeon-e5","host_speed":1)"), Error);
}

// 2 processes at 1 ms for a small image, on a host of speed 0.5: 1000 images per second.
TEST(FindInputRate, ComesFromLoaders) {
  hw::AssumedHost host;
  host.pixel_s = 1e-7;
  host.photograph_pixels = 1e5;
  host.small_image_s = 1e-3;
  host.small_pixels = 4096;
  host.row_s = 1e-5;
  host.number_s = 3e-5;
  host.most_numbers = 64;
  host.record_s = 1e-3;
  std::vector<std::string> lines;
  const auto rate = [&](const std::string& model, const std::string& more) {
    const Request request =
        parse_request(R"({"loaders":2,"model":")" + model + "\"" + more + "}", "test");
    return *find_input_rate(request, host, Model(model), 0.5, lines);
  };
  EXPECT_NEAR(rate("resnet18-cifar", ""), 1000, 1e-9);
  EXPECT_NEAR(rate("resnet50", ""), 100, 1e-9);  // 10 ms for 1e5 pixels
  EXPECT_NEAR(rate("resnet50", R"(,"dataset":"cityscapes")"), 2 * 0.5 / (1e-7 * 2048 * 1024), 1e-9);
  EXPECT_NEAR(rate("resnet50", R"(,"dataset":"cifar100")"), 1000, 1e-9);  // enlarged from memory
  EXPECT_NEAR(rate("neumf", ""), 10000, 1e-9);  // 10 us and 30 us for each of three numbers
  EXPECT_NEAR(rate("bert-base:seq=128", ""), 1000, 1e-9);
  EXPECT_EQ(lines.size(), 6U);
  const Request none = parse_request(R"({"loaders":0,"model":"neumf"})", "test");
  EXPECT_NEAR(*find_input_rate(none, host, Model("neumf"), 0.5, lines), 5000, 1e-9);
  EXPECT_THROW(rate("resnet50", R"(,"input_rate":5)"), Error);
}

TEST(FindCopyRate, ComesFromWhereTheInputLies) {
  hw::AssumedHost host;
  host.pageable_bytes_per_s = 3e9;
  host.pinned_bytes_per_s = 11e9;
  std::vector<std::string> lines;
  const auto rate = [&](const std::string& more) {
    return find_copy_rate(parse_request(R"({"model":"mlp")" + more + "}", "test"), host, lines);
  };
  EXPECT_EQ(rate(""), std::nullopt);
  EXPECT_EQ(rate(R"(,"copy_rate":5)"), 5);
  EXPECT_EQ(rate(R"(,"input_copy":"pageable")"), 3e9);
  EXPECT_EQ(rate(R"(,"input_copy":"pinned")"), 11e9);
  EXPECT_THROW(rate(R"(,"input_copy":"pinned","copy_rate":5)"), Error);
}

// PyTorch 2 takes convolutions alone to TF32, NVIDIA's containers everything; older devices cannot.
// AMD's do so only where they are told to (ROCm's HIPBLASLT_ALLOW_TF32; TensorFlow's
// documentation).
TEST(FindTf32, IsWhatTheFrameworkDoes) {
  const std::string a100 = R"("model":"resnet50","device":"a100-sxm4-40gb")";
  const Resolved plain = resolved(a100);
  EXPECT_EQ(plain.precision, Precision::Fp32);
  EXPECT_TRUE(plain.framework->tf32_convolutions);
  EXPECT_TRUE(says(plain, "convolutions are computed in TF32"));
  const Resolved container = resolved(a100 + R"(,"framework":"nvidia")");
  EXPECT_EQ(container.precision, Precision::Tf32);
  EXPECT_FALSE(container.framework->tf32_convolutions);
  const Resolved strict = resolved(a100 + R"(,"framework":"nvidia","precision":"fp32-ieee")");
  EXPECT_EQ(strict.precision, Precision::Fp32);
  EXPECT_FALSE(strict.framework->tf32_convolutions);
  EXPECT_FALSE(resolved(R"("model":"resnet50","device":"v100")").framework->tf32_convolutions);
  EXPECT_FALSE(resolved(R"("model":"resnet50","device":"mi300x")").framework->tf32_convolutions);
}

TEST(FindCluster, TakesTheUsualNetworkAndRefusesAnotherDevice) {
  const std::string many = R"("model":"resnet50","workers":16)";
  const Resolved hgx = resolved(many + R"(,"device":"h100-sxm5-80gb")");
  EXPECT_EQ(hgx.cluster.links[1].name, "8xndr");
  EXPECT_TRUE(says(hgx, "nodes are joined by 8xndr"));
  EXPECT_EQ(resolved(many + R"(,"device":"t4")").cluster.links[1].name, "100gbe");
  EXPECT_THROW(resolved(many + R"(,"device":"a100-sxm4-40gb","cloud":"g4dn.12xlarge")"), Error);
  EXPECT_EQ(resolved(many + R"(,"device":"t4","cloud":"g4dn.12xlarge")").cluster.nodes.size(), 4U);
}

TEST(Resolve, TakesHorovodsCycle) {
  const Resolved own = resolved(
      R"("model":"resnet50","device":"t4","workers":2,
         "strategy":{"kind":"horovod","cycle_s":0.001})");
  EXPECT_EQ(own.exchange->horovod.cycle_s, 0.001);
}

}  // namespace
}  // namespace foretrain

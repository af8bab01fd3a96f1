// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Graph;
using graph::Kind;

// A generator: 3*64*49 + 64, then (in*out*9 + out) for 64 to 128, 128 to 256, eighteen of 256,
// 256 to 128 and 128 to 64, 64*3*49 + 3: 11,378,179. A discriminator: (in*out*16 + out) for 3, 64,
// 128, 256, 512 and 1 channels: 2,764,737. Each runs with one set of weights however often.
TEST(CycleGan, HasTheParametersOfItsFourNetworks) {
  EXPECT_EQ(graph::parameter_count(build("cyclegan")), 2 * (11'378'179 + 2'764'737));
}

// Six runs of generators, of 24 convolutions, and six of discriminators, of five; ten losses.
TEST(CycleGan, RunsItsNetworksThreeTimesEach) {
  const Graph graph = build("cyclegan");
  EXPECT_EQ(count(graph, Kind::Conv), 6 * 24 + 6 * 5);
  EXPECT_EQ(count(graph, Kind::PointwiseLoss), 10);
}

// In billions of multiply-adds, for 256 x 256 pixels. A generator: 3*64*49 and 64*3*49 for each
// of 256^2 pixels, 64*128*9 at 128^2 and 128*256*9 at 64^2, eighteen times 256*256*9 at 64^2,
// 256*128*9 at 128^2, 128*64*9 at 256^2. A discriminator: 3*64*16 at 128^2, 64*128*16 at 64^2,
// 128*256*16 at 32^2, 256*512*16 at 16^2, 512*16 at 16^2.
TEST(CycleGan, HasTheWorkOfItsNetworks) {
  const double generator = 2 * 9'408.0 * 65'536 + 73'728.0 * 16'384 + 294'912.0 * 4'096 +
                           18 * 589'824.0 * 4'096 + 294'912.0 * 16'384 + 73'728.0 * 65'536;
  const double discriminator =
      3'072.0 * 16'384 + 131'072.0 * 4'096 + 524'288.0 * 1'024 + 2'097'152.0 * 256 + 8'192.0 * 256;
  EXPECT_NEAR(gemm_flops(build("cyclegan"), 1) / 2, 6 * (generator + discriminator), 1);
}

TEST(CycleGan, RefusesImagesThatDoNotFit) {
  EXPECT_THROW(build("cyclegan:image=250"), Error);
  EXPECT_NO_THROW(build("cyclegan:image=32"));
}

}  // namespace
}  // namespace foretrain::zoo

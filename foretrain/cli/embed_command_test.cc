// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

TEST(EmbedCommand, PrintsAVectorPerModel) {
  const Outcome outcome = run_program({"embed", "resnet18", "mlp", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::size_t end = outcome.out.find('\n');
  const Json first = parse_json(outcome.out.substr(0, end));
  const Json second = parse_json(outcome.out.substr(end + 1));
  EXPECT_EQ(first["model"], "resnet18");
  EXPECT_EQ(second["model"], "mlp");
  EXPECT_EQ(first["embedding"].size(), second["embedding"].size());
  EXPECT_NE(first["embedding"], second["embedding"]);
  EXPECT_FALSE(first.contains("nearest"));
  EXPECT_EQ(first["dataset"], "digits");
}

TEST(EmbedCommand, ListsNearestModels) {
  const Outcome outcome = run_program({"embed", "vgg16", "--like", "4", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json nearest = parse_json(outcome.out)["nearest"];
  ASSERT_EQ(nearest.size(), 4U);
  EXPECT_EQ(nearest[0]["family"], "VGG");
  EXPECT_NE(run_program({"embed", "vgg16", "--like", "1"}).out.find("nearest"), std::string::npos);
}

TEST(EmbedCommand, RefusesWhatIsNoModelOrNoEmbedding) {
  EXPECT_EQ(run_program({"embed"}).code, 2);
  EXPECT_EQ(run_program({"embed", "resnet81"}).code, 2);
  EXPECT_EQ(run_program({"embed", "mlp", "--embedding", "data/hardware/assumed"}).code, 2);
  const Outcome other = run_program({"embed", "mlp", "--embedding", "data/inspectors/lab.json"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("no embedding"), std::string::npos) << other.err;
}

}  // namespace
}  // namespace foretrain::cli

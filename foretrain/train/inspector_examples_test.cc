// SPDX-License-Identifier: Apache-2.0
// Every measurement here is invented.
#include "foretrain/train/inspector_examples.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace foretrain::train {
namespace {

measured::ResourceJob job(const std::string& model, bool servers) {
  const std::string strategy =
      servers ? R"(, "strategy": {"kind": "ps", "servers": 1, "server_placement": [0, 0, 1]})" : "";
  measured::ResourceJob one{.model = model, .setting = "base", .split = "train"};
  one.request = R"({"model": ")" + model +
                R"(", "device": "cpu:cores=1", "batch": 4, "workers": 2, "workers_per_node": 1,)"
                R"( "network": "1gbps")" +
                strategy + "}";
  one.repeats.resize(3);
  one.median.step_time_s = 0.25;
  measured::RoleUse role;
  role.of[0] = {1, 90, 10, 0.125, {}, 0.5};
  one.median.roles[0] = role;
  if (servers) one.median.roles[1] = measured::RoleUse{};
  return one;
}

TEST(InspectorExamples, AreOneForEachRoleThatWasMeasured) {
  const std::vector<measured::ResourceJob> jobs{job("mlp", false), job("resnet20-cifar", true)};
  const std::vector<InspectorExample> examples = inspector_examples(jobs, load_library(), 2);
  ASSERT_EQ(examples.size(), 3U);
  EXPECT_EQ(examples[0].job, &jobs[0]);
  EXPECT_EQ(examples[1].role, resource::Role::Worker);
  EXPECT_EQ(examples[2].role, resource::Role::Server);
  EXPECT_EQ(examples[2].job, &jobs[1]);
  EXPECT_GT(examples[0].predicted_step_s, 0);
  EXPECT_EQ(examples[0].features.names, examples[2].features.names);
}

TEST(InspectorExamples, DoNotDependOnTheNumberOfThreads) {
  const std::vector<measured::ResourceJob> jobs{job("mlp", false), job("resnet20-cifar", true)};
  const Library library = load_library();
  EXPECT_EQ(examples_csv(inspector_examples(jobs, library, 1)),
            examples_csv(inspector_examples(jobs, library, 2)));
}

// Behind what was measured a line has its features; what was not measured is empty.
TEST(InspectorExamples, AreALineEach) {
  const std::vector<measured::ResourceJob> jobs{job("mlp", false)};
  const std::vector<InspectorExample> examples = inspector_examples(jobs, load_library(), 1);
  const std::string text = examples_csv(examples);
  const std::size_t header = text.find('\n');
  const auto cells = [](const std::string& line) {
    return 1 + std::count(line.begin(), line.end(), ',');
  };
  const std::string line = text.substr(header + 1);
  EXPECT_EQ(cells(text.substr(0, header)), cells(line));
  EXPECT_EQ(text.find("model,setting,split,role,repeats,step_time_s"), 0U);
  EXPECT_EQ(line.find("mlp,base,train,worker,3,0.25,"), 0U);
  EXPECT_NE(line.find(",1,90,10,0.125,,0.5,"), std::string::npos) << line;
  EXPECT_EQ(examples_csv({}), "");
}

}  // namespace
}  // namespace foretrain::train

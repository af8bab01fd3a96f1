// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

TEST(GraphCommand, JsonCountsResnet50AsPublished) {
  const Outcome outcome = run_program({"graph", "resnet50", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json graph = parse_json(outcome.out);
  EXPECT_EQ(graph["name"], "resnet50");
  EXPECT_EQ(graph["parameters"], 25557032);  // torchvision's documentation
  // 4.09 G multiply-adds (torchvision's documentation), each two FLOPs.
  EXPECT_NEAR(graph["forward_flops"].get<double>(), 2 * 4.09e9, 0.01e9);
  const Json& first = graph["nodes"][0];
  EXPECT_EQ(first["op"], "conv");
  EXPECT_EQ(first["phase"], "forward");
  EXPECT_EQ(first["inputs"][0], Json({1, 3, 224, 224}));
  EXPECT_EQ(first["outputs"][0], Json({1, 64, 112, 112}));
  EXPECT_EQ(first["flops"], 2.0 * 64 * 112 * 112 * 3 * 7 * 7);
  EXPECT_EQ(graph["nodes"].back()["phase"], "backward");
}

// A name that would set the terminal's title, a layer that would begin a line of its own.
TEST(GraphCommand, ShowsNamesThatSpeakToTheTerminalAsText) {
  const std::string model =
      R"({"format": "foretrain-graph", "version": 1, "name": "\u001b]0;x\u0007",
      "tensors": [{"name": "in\nput", "shape": ["batch", 4], "role": "input"},
                  {"name": "w", "shape": [2, 4], "role": "parameter"}],
      "nodes": [{"op": "linear", "inputs": [0, 1], "outputs": ["y"], "scope": "fc\u001b[2J"}],
      "outputs": ["y"]})";
  const Outcome outcome = run_program({"graph", "-"}, model);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char c : outcome.out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_NE(outcome.out.find("in\\nput"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("fc\\x1b[2J"), std::string::npos) << outcome.out;
}

TEST(GraphCommand, ReadsAModelFromStandardInput) {
  const std::string file = run_program({"graph", "mlp", "--ftg", "-"}).out;
  EXPECT_EQ(run_program({"graph", "-", "--json"}, file).out,
            run_program({"graph", "mlp", "--json"}).out);
}

TEST(GraphCommand, TableAndDotAreWritten) {
  const Outcome table = run_program({"graph", "resnet18", "--batch", "2"});
  EXPECT_NE(table.out.find("11,689,512"), std::string::npos);
  EXPECT_NE(table.out.find("layer4.1"), std::string::npos);
  EXPECT_EQ(run_program({"graph", "resnet18", "--dot"}).out.rfind("digraph", 0), 0U);
}

// The folder reaches the importer, in every command that reads models.
TEST(GraphCommand, ExternalNamesAFolder) {
  const std::string model = "fuzz/corpus/onnx_fuzz/conv.onnx";
  const std::vector<std::vector<std::string>> commands{
      {"graph", model}, {"predict", model, "--device", "t4"}, {"embed", model}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--external", "data"});
    EXPECT_EQ(run_program(command).code, 0) << command.front();
    command.back() = "data/no-such-folder";
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.code, 2) << command.front();
    EXPECT_NE(outcome.err.find("there is no folder"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(
      run_program({"predict", model, "--device", "t4", "--external", "data", "--what-if"}).code, 2);
}

// Every node of the step is in one group, or dropped.
TEST(GraphCommand, GroupsTheStepsNodes) {
  const Outcome outcome = run_program({"graph", "resnet18", "--group", "12", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json grouped = parse_json(outcome.out);
  ASSERT_EQ(grouped["groups"].size(), 12U);
  std::size_t nodes = grouped["dropped"].get<std::size_t>();
  for (const Json& group : grouped["groups"]) nodes += group["nodes"].size();
  const Json graph = parse_json(run_program({"graph", "resnet18", "--json"}).out);
  EXPECT_EQ(nodes, graph["nodes"].size());
  EXPECT_EQ(run_program({"graph", "resnet18", "--group", "12", "--json"}).out, outcome.out);
  EXPECT_NE(run_program({"graph", "resnet18", "--group", "3"}).out.find("begins in"),
            std::string::npos);
  EXPECT_EQ(run_program({"graph", "resnet18", "--group", "0"}).code, 2);
}

}  // namespace
}  // namespace foretrain::cli

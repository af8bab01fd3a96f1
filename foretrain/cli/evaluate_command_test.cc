// SPDX-License-Identifier: Apache-2.0
// Every measurement here is invented.
#include <gtest/gtest.h>

#include <sstream>

#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

// One row that is predicted, one whose model does not exist, one of an unknown device.
std::string measurements() {
  std::string text =
      "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
      "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes\n";
  for (const char* model_and_gpu :
       {"resnet18,x,TITAN RTX", "nothing,x,TITAN RTX", "resnet18,x,?"}) {
    text += "s,f," + std::string(model_and_gpu) + ",1,1,1,PCIe,FP32,12,12,step_time,40,ms,one,n\n";
  }
  return text;
}

// 2 of 3 rows have a request; the lines' words, whatever their distance.
TEST(Evaluate, CoverageSaysWhatBecameOfTheRows) {
  const TemporaryFile mapping("rows.json", R"({
    "variables": {"device": {"column": "gpu", "map": {"TITAN RTX": "titan-rtx"}}},
    "rules": [{"request": {"model": "{model}", "device": "{device}", "batch": "{batch_per_gpu}"},
               "compare": {"number": "step_time_s", "scale": 0.001}}]})");
  const TemporaryFile file("rows.csv", measurements());
  const Outcome outcome = run_program({"evaluate", "--data", file.path(), "--coverage"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::string words;
  for (std::string word; lines >> word;) words += word + " ";
  EXPECT_NE(words.find("3 2 67 % 1 1 1 1 device '?' is not in the mapping"), std::string::npos)
      << outcome.out;
}

// It said so below empty tables and ended with 0.
TEST(Evaluate, AFileThatIsNoMeasurementIsRefused) {
  const TemporaryFile file("mine.csv", "model,device,batch,step_time_ms\nresnet50,t4,32,200\n");
  const Outcome outcome = run_program({"evaluate", "--data", file.path()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("no training measurements: it lacks source"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("docs/evaluate.md"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace foretrain::cli

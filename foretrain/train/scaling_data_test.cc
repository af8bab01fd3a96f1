// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/scaling_data.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "foretrain/base/error.h"
#include "foretrain/operators/answer.h"
#include "foretrain/request/request.h"

namespace foretrain::train {
namespace {

class ScalingFile : public testing::Test {
 protected:
  ScalingFile() { std::filesystem::create_directory(folder_); }
  ~ScalingFile() override { std::filesystem::remove_all(folder_); }

  ScalingSource source(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_ / name;
    std::ofstream(file) << text;
    return {.data = file};
  }

  std::string refusal(const ScalingSource& from) const {
    try {
      read_scaling_data(from, library_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("foretrain-" + std::to_string(std::random_device{}()));
  Library library_ = load_library();
};

constexpr const char* kCsv =
    "net,gpus,images,seconds\n"
    "a,1,1000,10\n"
    "a,2,1000,6\n"
    "b,2,2000,12\n"
    "b,4,2000,\n";

TEST_F(ScalingFile, ReadsTheColumnsThatItIsTold) {
  ScalingSource from = source("runs.csv", kCsv);
  from.columns = {
      {"time", "seconds"}, {"workers", "gpus"}, {"samples", "images"}, {"model", "net"}};
  const ScalingData data = read_scaling_data(from, library_);
  EXPECT_EQ(data.time, TimeOf::Epoch);  // there are samples
  EXPECT_EQ(data.variables, (std::vector<std::string>{"samples", "workers"}));
  ASSERT_EQ(data.workloads.size(), 2U);
  EXPECT_EQ(data.workloads[0].shared.model, "a");
  EXPECT_EQ(data.workloads[0].rows[1].values, (std::vector<double>{1000, 2}));
  EXPECT_EQ(data.workloads[0].rows[1].time_s, 6);
  EXPECT_EQ(data.workloads[1].rows.size(), 1U);
  EXPECT_EQ(data.skipped, 1U);  // no time
  from.where = {{"net", "b"}};
  EXPECT_EQ(read_scaling_data(from, library_).workloads.size(), 1U);
}

TEST_F(ScalingFile, SaysWhatIsWrongWithColumns) {
  ScalingSource from = source("runs.csv", kCsv);
  from.columns = {{"time", "seconds"}, {"worker", "gpus"}};
  EXPECT_NE(refusal(from).find("did you mean 'workers'"), std::string::npos) << refusal(from);
  from.columns = {{"time", "secs"}, {"workers", "gpus"}};
  EXPECT_NE(refusal(from).find("net, gpus, images, seconds"), std::string::npos) << refusal(from);
  from.columns = {{"workers", "gpus"}};
  EXPECT_NE(refusal(from).find("time=COLUMN"), std::string::npos);
  from.columns = {{"time", "seconds"}};
  EXPECT_NE(refusal(from).find("what does the time depend on"), std::string::npos);
  from.columns = {{"time", "net"}, {"workers", "gpus"}};
  EXPECT_NE(refusal(from).find("line 2: 'net' is 'a', not a positive number"), std::string::npos)
      << refusal(from);
  from.columns = {{"time", "seconds"}, {"samples", "images"}};
  from.time = TimeOf::Step;
  EXPECT_NE(refusal(from).find("--time epoch"), std::string::npos);
}

constexpr const char* kSteps =
    R"({"request": {"model": "mlp", "device": "t4", "batch": 32}, "step_time_s": 0.25})"
    "\n"
    R"({"request": {"model": "mlp", "device": "t4", "batch": 64}, "step_time_s": 0.5})"
    "\n";

// Workers and nodes are the same in both, so only the batch is a variable.
TEST_F(ScalingFile, ReadsRequestsWithTheirSteps) {
  ScalingSource from = source("steps.jsonl", kSteps);
  const ScalingData data = read_scaling_data(from, library_);
  EXPECT_EQ(data.variables, std::vector<std::string>{"batch"});
  ASSERT_EQ(data.workloads.size(), 1U);
  EXPECT_EQ(data.workloads[0].shared.model, "mlp");
  EXPECT_EQ(data.workloads[0].shared.device, "t4");
  EXPECT_EQ(data.workloads[0].shared.precision, "fp32");
  EXPECT_EQ(data.workloads[0].rows[1].values, std::vector<double>{64});
  EXPECT_EQ(data.workloads[0].rows[1].time_s, 0.5);
  from.with_operators = true;
  const ScalingData with = read_scaling_data(from, library_);
  const Resolved resolved =
      resolve(parse_request(R"({"model": "mlp", "device": "t4", "batch": 64})", "test"), library_);
  EXPECT_EQ(with.workloads[0].rows[1].values.at(1),
            operators::detail_of(Question(resolved, library_)).step.value);
}

}  // namespace
}  // namespace foretrain::train

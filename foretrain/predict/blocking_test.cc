// SPDX-License-Identifier: Apache-2.0
// A host that waits for each kernel (CUDA_LAUNCH_BLOCKING=1).
#include <gtest/gtest.h>

#include "foretrain/operators/stages.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

class Blocking : public testing::Test {
 protected:
  operators::Stages run(const std::string& framework) const {
    const Request request = parse_request(
        R"({"model": "gpt:layers=2,hidden=512,heads=8,seq=256,vocab=1000", "device": "a100",
            "batch": 8, "precision": "bf16", "framework": ")" +
            framework + R"("})",
        "test");
    return operators::run_stages(resolve(request, library_), library_);
  }
  static double sum(const operators::Stages& stages) {
    double seconds = 0;
    for (const sim::Task& task : stages.program.program.tasks) seconds += task.duration.count();
    return seconds;
  }

  Library library_ = load_library();
};

// Nothing runs side by side: the step is the sum of all launches and kernels of one GPU.
TEST_F(Blocking, HostAndDeviceTimesAddUp) {
  const operators::Stages blocking = run("megatron-deepspeed-blocking");
  EXPECT_NEAR(blocking.timeline.end.count() / sum(blocking), 1, 1e-9);
  const operators::Stages other = run("megatron-deepspeed");
  EXPECT_NEAR(sum(other) / sum(blocking), 1, 1e-9);
  EXPECT_LT(other.timeline.end.count(), 0.95 * sum(other));
}

}  // namespace
}  // namespace foretrain

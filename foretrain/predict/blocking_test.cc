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
  EXPECT_LT(other.timeline.end.count(), 0.95 * sum(other));
}

// The host needs 3 us more after each kernel but those of the last operator, after which it has
// nothing to launch.
TEST_F(Blocking, TheHostNoticesThatAKernelHasEnded) {
  const operators::Stages blocking = run("megatron-deepspeed-blocking");
  int kernels = 0;
  int of_last = 0;
  for (const cost::OpTime& op : blocking.program.classes.front().ops) {
    if (op.kernels > 0) of_last = op.kernels;
    kernels += op.kernels;
  }
  EXPECT_NEAR(sum(blocking) - sum(run("megatron-deepspeed")), 3e-6 * (kernels - of_last), 1e-9);
}

}  // namespace
}  // namespace foretrain

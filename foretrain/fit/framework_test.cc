// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/framework.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

// Steps of a framework whose tensors cost more, by the predictor itself. Several numbers cost the
// host per tensor and per step, so the error tells, not a single number.
TEST(FitFramework, ExplainsWhatTensorsCost) {
  Library truth = load_library();
  cost::Framework slower = cost::framework_named(truth.frameworks, "adaptdl");
  slower.host_per_tensor_s *= 4;
  cost::put(slower, truth.frameworks);
  std::vector<measured::MeasuredStep> steps;
  for (const char* model : {"resnet18-cifar", "densenet121", "mobilenet_v2", "mlp", "vgg11"}) {
    for (const char* batch : {"4", "64"}) {
      const Request request = parse_request(std::string(R"({"device": "t4", "framework": "adaptdl",
          "model": ")") + model + R"(", "batch": )" +
                                                batch + "}",
                                            "test");
      steps.push_back({request, predict(request, truth).step_time_s.value});
    }
  }
  const FittedFramework fitted = fit_framework("adaptdl", steps, {}, load_library());
  EXPECT_GT(fitted.before, 0.05);
  EXPECT_LT(fitted.after, 0.02);
}

TEST(FrameworkSteps, NeedMeasurements) {
  EXPECT_THROW(framework_steps("nowhere", "adaptdl", {}, load_library()), Error);
}

}  // namespace
}  // namespace foretrain::fit

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

// Steps of a machine that is as `truth` says, by the predictor itself.
std::vector<measured::MeasuredStep> steps_of(const std::vector<std::string>& requests,
                                             const Calibration& truth) {
  Library library = load_library();
  library.calibrations = {truth};
  std::vector<measured::MeasuredStep> steps;
  for (const std::string& text : requests) {
    const Request request = parse_request(text, "test");
    steps.push_back({request, predict(request, library).step_time_s.value});
  }
  return steps;
}

std::string on_t4(const std::string& rest) { return R"({"device": "t4", )" + rest + "}"; }

const std::vector<std::string> kRequests{on_t4(R"("model": "vgg16", "batch": 64)"),
                                         on_t4(R"("model": "mobilenet_v2", "batch": 64)"),
                                         on_t4(R"("model": "resnet18-cifar", "batch": 2)"),
                                         on_t4(R"("model": "bert-base:seq=128", "batch": 16)"),
                                         on_t4(R"("model": "densenet121", "batch": 4)")};

TEST(FitCalibration, FindsAMachineThatIsSlowerInEveryWay) {
  const Calibration truth{"t4", 0.8, 0.7, 0.6, 1};
  const FittedCalibration fitted = fit_calibration(steps_of(kRequests, truth), {}, load_library());
  EXPECT_EQ(fitted.calibration.device, "t4");
  EXPECT_GT(fitted.before, 0.15);
  EXPECT_LT(fitted.after, 0.03);
  EXPECT_NEAR(std::log(fitted.calibration.compute / 0.8), 0, 0.1);
  EXPECT_NEAR(std::log(fitted.calibration.memory / 0.7), 0, 0.15);
  EXPECT_NEAR(std::log(fitted.calibration.host / 0.6), 0, 0.1);
  EXPECT_EQ(fitted.calibration.network, 1);
}

// One step cannot tell what is slow; what it does not touch stays as it was.
TEST(FitCalibration, OneStepMovesOnlyWhatItTouches) {
  const Calibration truth{"t4", 0.5, 1, 1, 1};
  const FittedCalibration fitted =
      fit_calibration(steps_of({kRequests[0]}, truth), {}, load_library());
  EXPECT_LT(fitted.after, 0.05);
  EXPECT_LT(fitted.calibration.compute, 0.7);
  EXPECT_NEAR(fitted.calibration.host, 1, 0.05);
}

// Steps that wait for their loaders tell nothing of the device. That these are half as fast may be
// the host's doing as well, whose processes they are.
TEST(FitCalibration, FindsSlowLoaders) {
  const auto loaded = [](int batch) {
    return on_t4(R"("model": "resnet18-cifar", "loaders": 1, "batch": )" + std::to_string(batch));
  };
  Calibration truth{"t4", 1, 1, 1, 1};
  truth.input = 0.5;
  const FittedCalibration fitted =
      fit_calibration(steps_of({loaded(64), loaded(128)}, truth), {}, load_library());
  EXPECT_LT(fitted.after, 0.03);
  const Calibration& found = fitted.calibration;
  EXPECT_LT(found.input, 0.8);
  EXPECT_NEAR(std::log(found.input * found.host / 0.5), 0, 0.1);
  EXPECT_NEAR(std::log(found.compute), 0, 0.1);
}

// Small batches wait for a slow host, large ones for an input that nobody stated: 100 images/s.
// Other batches of the model are then predicted with it, other models without.
TEST(FitCalibration, SeesAnInputThatNobodyStated) {
  const auto plain = [](const std::string& model, int batch) {
    return on_t4(R"("model": ")" + model + R"(", "batch": )" + std::to_string(batch));
  };
  std::vector<measured::MeasuredStep> steps =
      steps_of({plain("resnet18", 1)}, Calibration{"t4", 1, 1, 0.5, 1});
  for (const int batch : {32, 64}) {
    steps.push_back({parse_request(plain("resnet18", batch), "test"), batch / 100.0});
  }
  Library library = load_library();
  const FittedCalibration fitted = fit_calibration(steps, {}, library);
  EXPECT_NEAR(fitted.calibration.input_rate, 100, 1);
  EXPECT_NEAR(std::log(fitted.calibration.compute), 0, 0.1);
  const auto step = [&](const std::string& model) {
    return predict(parse_request(plain(model, 128), "test"), library).step_time_s.value;
  };
  const double other = step("resnet34");
  library.calibrations = {fitted.calibration};
  EXPECT_NEAR(step("resnet18"), 1.28, 0.02);
  EXPECT_NEAR(step("resnet34"), other, 0.1 * other);
}

// One step of four workers says only that something is slow; how long it waited says what.
TEST(FitCalibration, ExposedCommunicationTellsTheNetwork) {
  const std::string request = on_t4(
      R"("model": "vgg16", "batch": 32, "workers": 4, "workers_per_node": 1, "network": "10gbps")");
  const Calibration truth{"t4", 1, 1, 1, 0.5};
  std::vector<measured::MeasuredStep> steps = steps_of({request}, truth);
  const double blind = fit_calibration(steps, {}, load_library()).calibration.network;
  Library library = load_library();
  library.calibrations = {truth};
  steps[0].exposed_communication_s =
      predict(steps[0].request, library).breakdown.exposed_communication.count();
  const Calibration seen = fit_calibration(steps, {}, load_library()).calibration;
  EXPECT_LT(std::abs(std::log(seen.network / 0.5)), std::abs(std::log(blind / 0.5)) / 2);
  EXPECT_NEAR(std::log(seen.compute), 0, 0.1);
}

// Three runs of one step, of which one took twice as long. Squares would meet at ln 2 / 3 = 0.23.
// Sizes nearly ignore it: two runs d deviations off balance one that is far off where
// 2 d / sqrt(1 + d^2) = 1, so d = 0.58, which is 0.046 at a noise of 0.08; the prior takes off
// some.
TEST(FitCalibration, OneSlowRunDoesNotDecide) {
  const std::string request = kRequests[0];
  std::vector<measured::MeasuredStep> steps =
      steps_of({request, request, request}, Calibration{"t4", 1, 1, 1, 1});
  const double usual = steps[0].step_time_s;
  steps[1].step_time_s *= 2;
  Library library = load_library();
  library.calibrations = {fit_calibration(steps, {}, library).calibration};
  const double predicted = predict(steps[0].request, library).step_time_s.value;
  EXPECT_NEAR(std::log(predicted / usual), 0.043, 0.005);
}

TEST(FitCalibration, MovesOnlyTheFactorsThatAreAsked) {
  const Calibration truth{"t4", 1, 1, 0.5, 1};
  CalibrationFit host;
  host.factors = {"host"};
  const FittedCalibration fitted =
      fit_calibration(steps_of(kRequests, truth), host, load_library());
  EXPECT_NEAR(std::log(fitted.calibration.host / 0.5), 0, 0.02);
  EXPECT_EQ(fitted.calibration.compute, 1);
  EXPECT_EQ(fitted.calibration.memory, 1);
}

TEST(FitCalibration, FindsASlowNetwork) {
  const std::vector<std::string> two{
      on_t4(
          R"("model": "vgg16", "batch": 4, "workers": 2, "workers_per_node": 1, "network": "10gbe")"),
      on_t4(R"("model": "vgg16", "batch": 16)")};
  const Calibration truth{"t4", 1, 1, 1, 0.5};
  const FittedCalibration fitted = fit_calibration(steps_of(two, truth), {}, load_library());
  EXPECT_NEAR(std::log(fitted.calibration.network / 0.5), 0, 0.15);
}

TEST(FitCalibration, RefusesTwoKindsOfDevices) {
  const std::vector<measured::MeasuredStep> mixed{
      {parse_request(R"({"model": "mlp", "device": "t4"})", "a"), 1},
      {parse_request(R"({"model": "mlp", "device": "l4"})", "b"), 1}};
  EXPECT_THROW(fit_calibration(mixed, {}, load_library()), Error);
  EXPECT_THROW(fit_calibration({}, {}, load_library()), Error);
}

}  // namespace
}  // namespace foretrain::fit

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/fit/detail/minimise.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

// The one kind of device that all steps run on.
hw::Device common_device(const std::vector<measured::MeasuredStep>& steps, const Library& library) {
  std::optional<hw::Device> common;
  for (const measured::MeasuredStep& step : steps) {
    for (const hw::Device& device : resolve(step.request, library).cluster.devices) {
      if (common && calibrated_kind(*common) != calibrated_kind(device)) {
        throw Error(ErrorKind::BadInput, "measured steps run on " + common->name + " and on " +
                                             device.name + "; calibrate one device at a time");
      }
      common = device;
    }
  }
  return *common;
}

struct Factor {
  const char* name;
  double Calibration::*place;
};

constexpr std::array kFactors{
    Factor{"compute", &Calibration::compute}, Factor{"memory", &Calibration::memory},
    Factor{"host", &Calibration::host}, Factor{"network", &Calibration::network}};

// Where the factors stand that the steps can tell and the caller wants.
std::vector<double*> open_factors(Calibration& calibration, const CalibrationFit& options,
                                  bool has_network) {
  std::vector<double*> places;
  for (const Factor& factor : kFactors) {
    const auto& wanted = options.factors;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), factor.name) == wanted.end()) {
      continue;
    }
    if (factor.place == &Calibration::network && !has_network) continue;
    places.push_back(&(calibration.*factor.place));
  }
  return places;
}

// Predicts the steps with a calibration. Its library keeps the prepared steps, whose graphs do not
// depend on the calibration.
class Trial {
 public:
  Trial(const std::vector<measured::MeasuredStep>& steps, const Library& known)
      : steps_(steps), library_(copy_of(known)) {}

  // Of each step ln(predicted / measured), and by how much of the step its exposed communication is
  // off; 0 where that was not measured.
  struct Off {
    double step = 0;
    double exposed = 0;
  };
  std::vector<Off> off(const Calibration& calibration) {
    library_.calibrations = {calibration};
    std::vector<Off> result;
    for (const measured::MeasuredStep& step : steps_) {
      const Report report = predict(step.request, library_);
      const double exposed = report.breakdown.exposed_communication.count();
      const double known = step.exposed_communication_s.value_or(exposed);
      result.push_back({std::log(report.step_time_s.value / step.step_time_s),
                        (exposed - known) / step.step_time_s});
    }
    return result;
  }

 private:
  const std::vector<measured::MeasuredStep>& steps_;
  Library library_;
};

// Minus twice the logarithm of a deviation's probability, in standard deviations: its square where
// it is small; beyond one its size counts, so that no single run decides which something slowed.
double cost_of(double deviations) { return 2 * (std::sqrt(1 + deviations * deviations) - 1); }

double mean_error(const std::vector<Trial::Off>& steps) {
  double sum = 0;
  for (const Trial::Off& off : steps) sum += std::abs(std::expm1(off.step));
  return sum / static_cast<double>(steps.size());
}

}  // namespace

std::string calibrated_kind(const hw::Device& device) {
  return hw::is_cpu(device) ? "cpu" : device.name;
}

std::vector<std::string> factor_names() {
  std::vector<std::string> names;
  for (const Factor& factor : kFactors) names.emplace_back(factor.name);
  return names;
}

FittedCalibration fit_calibration(const std::vector<measured::MeasuredStep>& steps,
                                  const CalibrationFit& options, const Library& library) {
  if (steps.empty()) throw Error(ErrorKind::BadInput, "no measured step to calibrate by");
  const hw::Device device = common_device(steps, library);
  const bool several =
      std::any_of(steps.begin(), steps.end(), [&](const measured::MeasuredStep& step) {
        return resolve(step.request, library).workers > 1;
      });
  Trial trial(steps, library);
  FittedCalibration fitted;
  fitted.steps = steps.size();
  fitted.calibration.device = calibrated_kind(device);
  Calibration& best = fitted.calibration;
  for (const Calibration& known : library.calibrations) {
    if (is_for(device.name, known)) best = known;
  }
  const std::vector<double*> places = open_factors(best, options, several);
  std::vector<Variable> variables;
  for (const double* place : places) variables.push_back({*place, *place / 20, *place * 20});
  fitted.before = mean_error(trial.off(best));
  const auto loss = [&](const std::vector<double>& values) {
    double sum = squared_moves(variables, values, options.usual);
    for (const Trial::Off& off : trial.off(best)) {
      sum += cost_of(off.step / options.noise) + std::pow(off.exposed / options.noise, 2);
    }
    return sum;
  };
  minimise_in_place(places, variables, options.evaluations, loss);
  fitted.after = mean_error(trial.off(best));
  best.models.clear();
  for (const measured::MeasuredStep& step : steps) best.models.push_back(step.request.model);
  return fitted;
}

}  // namespace foretrain::fit

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
    Factor{"host", &Calibration::host}, Factor{"network", &Calibration::network},
    Factor{"input", &Calibration::input}};

// What the steps can tell besides the device and its host.
struct Touched {
  bool network = false;      // some have several workers
  bool input = false;        // some have a rate of input or of its copy
  bool one_model = true;     // all are of one model, whatever its parameters
  double samples_per_s = 0;  // of a worker in the fastest of them, as measured
};

Touched touched_by(const std::vector<measured::MeasuredStep>& steps, const Library& library) {
  Touched touched;
  std::optional<std::string> model;
  for (const measured::MeasuredStep& step : steps) {
    const Resolved resolved = resolve(step.request, library);
    touched.network |= resolved.workers > 1;
    touched.input |= resolved.input_rate || resolved.copy_rate;
    const std::string family = step.request.model.substr(0, step.request.model.find(':'));
    touched.one_model &= family == model.value_or(family);
    model = family;
    touched.samples_per_s =
        std::max(touched.samples_per_s, static_cast<double>(resolved.batch) / step.step_time_s);
  }
  return touched;
}

// Where the factors stand that the steps can tell and the caller wants.
std::vector<double*> open_factors(Calibration& calibration, const CalibrationFit& options,
                                  const Touched& touched) {
  std::vector<double*> places;
  for (const Factor& factor : kFactors) {
    const auto& wanted = options.factors;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), factor.name) == wanted.end()) {
      continue;
    }
    if (factor.place == &Calibration::network && !touched.network) continue;
    if (factor.place == &Calibration::input && !touched.input) continue;
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

// Moves the calibration's factors to the most probable ones; returns minus twice the logarithm of
// their probability, but for a constant.
double fit_factors(const CalibrationFit& options, const Touched& touched, Trial& trial,
                   Calibration& best) {
  const std::vector<double*> places = open_factors(best, options, touched);
  std::vector<Variable> variables;
  for (const double* place : places) variables.push_back({*place, *place / 20, *place * 20});
  const auto loss = [&](const std::vector<double>& values) {
    double sum = squared_moves(variables, values, options.usual);
    for (const Trial::Off& off : trial.off(best)) {
      sum += cost_of(off.step / options.noise) + std::pow(off.exposed / options.noise, 2);
    }
    return sum;
  };
  minimise_in_place(places, variables, options.evaluations, loss);
  std::vector<double> values;
  for (const double* place : places) values.push_back(*place);
  return loss(values);
}

// A limit of the input that nobody stated must explain the steps this much better: as much as a
// factor that lies two standard deviations off.
constexpr double kLimitCost = 4;

// Whether an input that limits the steps, unstated, is a question: all have one model, whose input
// may be the same, and there are two of them at least.
bool may_limit_input(const std::vector<measured::MeasuredStep>& steps, const Touched& touched,
                     const CalibrationFit& options) {
  const auto& wanted = options.factors;
  const bool asked =
      wanted.empty() || std::find(wanted.begin(), wanted.end(), "input") != wanted.end();
  return asked && steps.size() > 1 && touched.one_model && !touched.input;
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
  const Touched touched = touched_by(steps, library);
  Trial trial(steps, library);
  FittedCalibration fitted;
  fitted.steps = steps.size();
  fitted.calibration.device = calibrated_kind(device);
  Calibration& best = fitted.calibration;
  for (const Calibration& known : library.calibrations) {
    if (is_for(device.name, known)) best = known;
  }
  best.models.clear();
  for (const measured::MeasuredStep& step : steps) best.models.push_back(step.request.model);
  fitted.before = mean_error(trial.off(best));
  Calibration limited = best;
  const double cost = fit_factors(options, touched, trial, best);
  if (may_limit_input(steps, touched, options)) {
    limited.input_rate = touched.samples_per_s;
    const double other = fit_factors(options, touched, trial, limited);
    if (other + kLimitCost < cost) best = limited;
  }
  fitted.after = mean_error(trial.off(best));
  return fitted;
}

}  // namespace foretrain::fit

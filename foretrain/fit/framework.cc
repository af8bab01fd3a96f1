// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/framework.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/evaluate/calibrate.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/fit/detail/minimise.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

struct Measured {
  measured::MeasuredStep step;
  evaluate::Shares shares;
};

// By the measurements' word for the model.
std::map<std::string, std::vector<Measured>> all_steps(const std::filesystem::path& file,
                                                       const std::string& framework,
                                                       const Library& library) {
  std::map<std::string, std::vector<Measured>> found;
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& one) {
    const bool step = one.metric == "step_time" || one.metric == "iteration_time";
    if (one.outcome != evaluate::Outcome::Predicted || !step) return;
    Request request = parse_request(one.request, "request");
    if (request.framework != framework) return;
    found[one.model].push_back(
        {{std::move(request), one.measured}, evaluate::shares_of_parts(one.breakdown)});
  };
  evaluate::evaluate(file, {}, library, observer);
  return found;
}

}  // namespace

std::vector<measured::MeasuredStep> framework_steps(const std::filesystem::path& file,
                                                    const std::string& framework,
                                                    const FrameworkFit& options,
                                                    const Library& library) {
  const auto found = all_steps(file, framework, library);
  std::vector<std::string> models;
  for (const auto& [model, measured] : found) models.push_back(model);
  for (const std::string& model : options.without) {
    if (!found.contains(model)) {
      throw Error(ErrorKind::NotFound, "no steps of model '" + printable(model) + "' to leave out" +
                                           did_you_mean(model, models));
    }
  }
  std::vector<measured::MeasuredStep> steps;
  for (const auto& [model, measured] : found) {
    const auto& without = options.without;
    if (std::find(without.begin(), without.end(), model) != without.end()) continue;
    std::vector<evaluate::Shares> shares;
    for (const Measured& one : measured) shares.push_back(one.shares);
    for (const std::size_t place : evaluate::spread(shares, options.rows)) {
      steps.push_back(measured[place].step);
    }
  }
  if (steps.empty()) {
    throw Error(ErrorKind::NotFound,
                "no measured step of framework '" + printable(framework) + "'");
  }
  return steps;
}

FittedFramework fit_framework(const std::string& framework,
                              const std::vector<measured::MeasuredStep>& steps,
                              const FrameworkFit& options, const Library& library) {
  Library own = copy_of(library);
  const auto index = &cost::framework_named(own.frameworks, framework) - own.frameworks.data();
  cost::Framework& trial = own.frameworks[static_cast<std::size_t>(index)];
  std::vector<double*> places;
  std::vector<Variable> variables;
  for (const cost::FrameworkNumber& number : cost::framework_numbers()) {
    double& place = trial.*number.place;
    if (place <= 0) continue;
    places.push_back(&place);
    variables.push_back({place, place / 20, place * 20});
  }
  const auto error = [&] {
    double sum = 0;
    for (const measured::MeasuredStep& step : steps) {
      sum += std::abs(std::log(predict(step.request, own).step_time_s.value / step.step_time_s));
    }
    return sum / static_cast<double>(steps.size());
  };
  FittedFramework fitted;
  fitted.before = error();
  minimise_in_place(places, variables, options.evaluations, [&](const std::vector<double>& values) {
    const double prior = squared_moves(variables, values, options.usual);
    return prior + error() * static_cast<double>(steps.size()) / options.noise;
  });
  fitted.after = error();
  fitted.framework = trial;
  return fitted;
}

}  // namespace foretrain::fit

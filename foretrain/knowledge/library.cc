// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/library.h"

#include "foretrain/base/file.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain {

std::shared_ptr<const Step> StepCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second.place);
  return found->second.step;
}

void StepCache::insert(const std::string& key, std::shared_ptr<const Step> step) {
  const std::lock_guard lock(mutex_);
  if (entries_.contains(key)) return;
  nodes_ += step->graph.nodes.size();
  order_.push_front(key);
  entries_.emplace(key, Entry{std::move(step), order_.begin()});
  while (nodes_ > kMostNodes && order_.size() > 1) {
    const auto oldest = entries_.find(order_.back());
    nodes_ -= oldest->second.step->graph.nodes.size();
    entries_.erase(oldest);
    order_.pop_back();
  }
}

std::shared_ptr<const Predictor> PredictorCache::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = predictors_.find(path);
  return found == predictors_.end() ? nullptr : found->second;
}

void PredictorCache::insert(const std::string& path, std::shared_ptr<const Predictor> predictor) {
  const std::lock_guard lock(mutex_);
  if (predictors_.size() >= kMost) predictors_.clear();
  predictors_.emplace(path, std::move(predictor));
}

Library load_library() {
  Library library;
  library.catalog = hw::load_catalog();
  library.op_timer = cost::analytic_time;
  library.operators = std::make_shared<cost::OperatorModel>(cost::shipped_operator_model());
  library.steps = std::make_unique<StepCache>();
  library.predictors = std::make_unique<PredictorCache>();
  return library;
}

Library copy_of(const Library& library) {
  Library copy;
  copy.catalog = library.catalog;
  copy.op_timer = library.op_timer;
  copy.operators = library.operators;
  copy.calibrations = library.calibrations;
  copy.frameworks = library.frameworks;
  copy.intervals = library.intervals;
  copy.read_files = library.read_files;
  copy.steps = std::make_unique<StepCache>();
  copy.predictors = std::make_unique<PredictorCache>();
  return copy;
}

Predictor read_predictor(const std::string& path) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  const std::string text = read_file(path, kLargest);
  Predictor predictor;
  if (text.find(kCalibrationFormat) != std::string::npos) {
    predictor.calibration = read_calibration(text, named(path));
  } else if (text.find(cost::kFrameworkFormat) != std::string::npos) {
    predictor.framework = cost::read_framework(text, named(path));
  } else if (text.find(kIntervalsFormat) != std::string::npos) {
    predictor.intervals = std::make_shared<const Intervals>(read_intervals(text, named(path)));
  } else {
    const cost::Constants constants = cost::read_constants(text, named(path));
    predictor.operators =
        std::make_shared<const cost::OperatorModel>(cost::make_operator_model(constants));
  }
  return predictor;
}

void use(Library& library, const Predictor& predictor) {
  if (predictor.operators) library.operators = predictor.operators;
  if (predictor.calibration) library.calibrations.push_back(*predictor.calibration);
  if (predictor.framework) library.frameworks.push_back(*predictor.framework);
  if (predictor.intervals) library.intervals = predictor.intervals;
}

}  // namespace foretrain

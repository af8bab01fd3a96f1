// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/prediction_cache.h"

#include "foretrain/base/error.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/importer/import.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/predict/predict.h"

namespace foretrain::evaluate {
namespace {

constexpr std::size_t kMostKnown = 200'000;  // requests kept, about 100 MB

Prediction predict_one(const std::string& json, const Library& library) {
  Prediction prediction;
  try {
    const Request request = parse_request(json, "request");
    prediction.precision = to_string(request.precision);
    prediction.batch = request.batch;
    prediction.workers = request.workers;
    const Report report = foretrain::predict(request, library);
    for (const measured::ReportNumber& number : measured::report_numbers()) {
      prediction.numbers.push_back(number.read(report));
    }
    prediction.breakdown = report.breakdown;
    prediction.fits = report.memory.fits;
    prediction.regime = report.regime;
    if (!importer::looks_like_file(request.model)) prediction.model = report.job.graph;
    prediction.workers = report.job.workers;
    prediction.batch = report.job.batch;
  } catch (const Error& error) {
    prediction.error = error.what();
  }
  return prediction;
}

using Known = std::unordered_map<std::string, std::shared_ptr<const Prediction>>;

}  // namespace

std::vector<std::shared_ptr<const Prediction>> PredictionCache::predict(
    const std::vector<std::string>& requests) {
  if (known_.size() > kMostKnown) known_.clear();
  std::vector<Known::value_type*> fresh;  // a map's entries stay where they are
  for (const std::string& request : requests) {
    const auto [entry, inserted] = known_.try_emplace(request, nullptr);
    if (!inserted) continue;
    std::optional<Prediction> before = known_before_ ? known_before_(request) : std::nullopt;
    if (before) {
      entry->second = std::make_shared<const Prediction>(std::move(*before));
    } else {
      fresh.push_back(&*entry);
    }
  }
  try {
    parallel_for(fresh.size(), threads_, [&](std::size_t i) {
      fresh[i]->second = std::make_shared<const Prediction>(predict_one(fresh[i]->first, library_));
    });
  } catch (...) {
    known_.clear();  // some have no prediction
    throw;
  }
  std::vector<std::shared_ptr<const Prediction>> predictions;
  predictions.reserve(requests.size());
  for (const std::string& request : requests) predictions.push_back(known_.at(request));
  return predictions;
}

}  // namespace foretrain::evaluate

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/judge.h"

namespace foretrain::evaluate {
namespace {

void compare(const Prediction& prediction, std::size_t number, Case& one) {
  one.number = number;
  one.precision = prediction.precision;
  one.batch = prediction.batch;
  one.workers = prediction.workers;
  one.outcome = Outcome::Refused;
  if (!prediction.error.empty()) {
    one.reason = prediction.error;
  } else if (!prediction.numbers[number]) {
    one.reason = "the report does not have this number for such a model";
  } else {
    one.outcome = Outcome::Predicted;
    one.predicted = *prediction.numbers[number];
    one.error = one.predicted / one.measured - 1;
    one.breakdown = prediction.breakdown;
    one.fits = prediction.fits;
    one.regime = prediction.regime;
    one.zoo_model = prediction.model;
  }
}

}  // namespace

void judge(const std::vector<Waiting*>& rows, PredictionCache& cache) {
  std::vector<std::string> requests;
  for (const Waiting* row : rows) {
    if (!row->one.request.empty()) requests.push_back(row->one.request);
  }
  const auto predictions = cache.predict(requests);
  auto next = predictions.begin();
  for (Waiting* row : rows) {
    if (!row->one.request.empty()) compare(**next++, row->number, row->one);
  }
}

}  // namespace foretrain::evaluate

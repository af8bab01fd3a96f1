// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "foretrain/knowledge/library.h"
#include "foretrain/knowledge/regime.h"
#include "foretrain/predict/report.h"

namespace foretrain::evaluate {

// What is kept of a request and its report; `error` says why there is no report.
struct Prediction {
  std::string error;
  std::string precision;
  std::optional<std::int64_t> batch;
  std::optional<int> workers;
  std::vector<std::optional<double>> numbers;  // as measured::report_numbers()
  Breakdown breakdown;
  bool fits = true;
  Regime regime;
  std::string model;  // the zoo's name without its parameters; "" of a file
};

// What is known of a request before it is predicted here; absent: nothing. Called by one thread.
using KnownPrediction = std::function<std::optional<Prediction>(const std::string& request)>;

// Predicts many requests on several threads, equal ones once.
class PredictionCache {
 public:
  // Keeps a reference to the library; 0 threads are one per core.
  PredictionCache(const Library& library, int threads, KnownPrediction known = {})
      : library_(library), threads_(threads), known_before_(std::move(known)) {}

  // One prediction per request (JSON), in their order.
  std::vector<std::shared_ptr<const Prediction>> predict(const std::vector<std::string>& requests);

 private:
  const Library& library_;
  int threads_;
  KnownPrediction known_before_;
  std::unordered_map<std::string, std::shared_ptr<const Prediction>> known_;
};

}  // namespace foretrain::evaluate

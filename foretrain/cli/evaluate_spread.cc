// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/evaluate_spread.h"

#include <map>
#include <memory>

#include "foretrain/cli/given_request.h"
#include "foretrain/cli/spread.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/evaluate/prediction_json.h"

namespace foretrain::cli {

void list_requests(const std::string& data, evaluate::Options options, const Library& library,
                   Console& console) {
  options.known = [&](const std::string& request) {
    if (request.find('\n') == std::string::npos) console.line(request);
    evaluate::Prediction none;
    none.error = "not predicted yet";
    return std::optional(none);
  };
  options.request = given_request(options.request);
  evaluate::evaluate(data, options, library, {});
}

void predict_listed(const Library& library, Console& console) {
  evaluate::PredictionCache cache(library, 1);
  for (const std::string& request : read_pieces()) {
    console.line(evaluate::prediction_json(request, *cache.predict({request}).front()));
  }
}

evaluate::KnownPrediction predicted_elsewhere() {
  auto known = std::make_shared<std::map<std::string, evaluate::Prediction>>();
  std::size_t number = 0;
  for (const std::string& line : read_pieces()) {
    auto one = evaluate::parse_prediction(line, "prediction " + std::to_string(++number));
    if (one.prediction) known->emplace(std::move(one.request), std::move(*one.prediction));
  }
  return [known](const std::string& request) -> std::optional<evaluate::Prediction> {
    const auto found = known->find(request);
    if (found == known->end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
// The whole flow on one page: a request goes in at the top, a report comes out at the bottom.
#include "foretrain/predict/predict.h"

#include <utility>

#include "foretrain/embedding/answer.h"
#include "foretrain/inspector/answer.h"
#include "foretrain/operators/answer.h"
#include "foretrain/operators/largest_batch.h"
#include "foretrain/predict/detail/choose.h"
#include "foretrain/predict/detail/make_report.h"
#include "foretrain/scaling/answer.h"

namespace foretrain {

Report predict(const Request& request, const Library& library) {
  const Resolved resolved = resolve_job(request, library);  // devices, links, framework, lengths
  return predict(Question(resolved, library));
}

Report predict(const Request& request, std::shared_ptr<const graph::Graph> model,
               const Library& library) {
  const Resolved resolved =
      operators::with_largest_batch(resolve(request, std::move(model), library), library);
  return predict(Question(resolved, library));
}

Resolved resolve_job(const Request& request, const Library& library) {
  return operators::with_largest_batch(resolve(request, library), library);
}

Report predict(const Question& question) {
  std::vector<Answer> answers;
  for (const Engine* engine : engines_for(question)) {
    if (auto answer = engine->answer(question)) answers.push_back(std::move(*answer));
  }
  const std::vector<Chosen> chosen = choose(answers, question.resolved().engine);
  return make_report(chosen, question);  // job length, cost
}

std::vector<const Engine*> engines_for(const Question& question) {
  static const operators::OperatorEngine kOperators;
  static const inspector::InspectorEngine kInspector;
  static const embedding::EmbeddingEngine kEmbedding;
  static const scaling::ScalingEngine kScaling;
  std::vector<const Engine*> engines{&kOperators};
  if (question.resolved().inspector) engines.push_back(&kInspector);
  if (question.resolved().embedding) engines.push_back(&kEmbedding);
  if (question.resolved().scaling) engines.push_back(&kScaling);
  return engines;
}

}  // namespace foretrain

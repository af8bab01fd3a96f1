// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/embedding/embed.h"
#include "foretrain/embedding/job_features.h"
#include "foretrain/embedding/law_terms.h"
#include "foretrain/knowledge/embedding_model.h"
#include "foretrain/operators/answer.h"

namespace foretrain::embedding {
namespace {

constexpr std::string_view kWhy = "from the network's embedding, by measured runs of others";
constexpr std::string_view kResidualWhy =
    "the operator engine's time, corrected by the network's embedding and measured runs of others";

constexpr double kLeastStep = 1e-9;  // seconds

[[noreturn]] void refuse() {
  throw Error(ErrorKind::BadInput,
              "the embedding model in 'predictors' was fitted with another embedding or by another "
              "version of this program; fit it anew: foretrain fit embedding --data DATA -o FILE");
}

const Embedding& embedding_for(const EmbeddingModel& model) {
  static const Embedding kShipped = shipped_embedding();
  if (model.embedding != kShipped.checksum || model.width != kShipped.spread.size()) refuse();
  return kShipped;
}

bool has_known_words(const EmbeddingModel& model, const JobFeatures& job) {
  const auto fields = word_fields();
  return std::all_of(model.words.begin(), model.words.end(), [&](const EmbeddingWords& known) {
    const auto field = std::find(fields.begin(), fields.end(), known.field);
    if (field == fields.end()) refuse();
    const std::string& word = job.words[static_cast<std::size_t>(field - fields.begin())];
    return std::find(known.words.begin(), known.words.end(), word) != known.words.end();
  });
}

bool is_in_ranges(const EmbeddingModel& model, const std::vector<double>& features) {
  constexpr double kSlack = 1e-9;  // logarithms are rounded
  return std::all_of(model.domain.begin(), model.domain.end(), [&](const EmbeddingRange& one) {
    const double value = features[one.feature];
    return value >= one.range.least - kSlack && value <= one.range.most + kSlack;
  });
}

// Whether a measured network is as near as those were that showed the errors.
bool is_near(const EmbeddingModel& model, const Embedding& embedding,
             const std::vector<float>& numbers) {
  std::vector<float> one(model.width);
  for (auto row = model.networks.begin(); row != model.networks.end();) {
    const auto end = row + static_cast<std::ptrdiff_t>(model.width);
    one.assign(row, end);
    if (distance(embedding, one, numbers) <= model.reach) return true;
    row = end;
  }
  return false;
}

Estimate of_step(const EmbeddingModel& model, double time, double steps, double startup_s) {
  const auto step = [&](double more) {
    return std::max(time * std::exp(more) - startup_s, kLeastStep) / steps;
  };
  Estimate estimate{.value = step(0), .low = {}, .high = {}, .confidence = {}};
  if (!model.low) return estimate;
  estimate.low = step(std::min(*model.low, 0.0));
  estimate.high = step(std::max(*model.high, 0.0));
  estimate.confidence = model.confidence;
  return estimate;
}

std::vector<double> law_values(const EmbeddingModel& model, const JobFeatures& job) {
  std::vector<LawTerm> terms;
  for (const std::string& name : model.terms) {
    auto term = law_term_named(name);
    if (!term) refuse();
    terms.push_back(std::move(*term));
  }
  return values_of(terms, job);
}

std::optional<OperatorsWord> operators_word(const EmbeddingModel& model, const Question& question) {
  if (!model.residual) return std::nullopt;
  const operators::StepDetail& detail = operators::detail_of(question);
  return OperatorsWord{detail.step.value, detail.breakdown};
}

}  // namespace

std::optional<Answer> EmbeddingEngine::answer(const Question& question) const {
  const Resolved& resolved = question.resolved();
  if (!resolved.embedding || resolved.data_parallel != resolved.workers) return std::nullopt;
  const EmbeddingModel& model = *resolved.embedding;
  const Embedding& embedding = embedding_for(model);
  const auto network = embed_model(resolved, embedding, question.library());
  const std::optional<OperatorsWord> word = operators_word(model, question);
  const std::optional<JobFeatures> job = job_features(resolved, *network, model.time, word);
  if (!job) return std::nullopt;
  const auto features = pick(model.features, job_feature_names(model.width), *job);
  if (!features) refuse();
  const double startup_s = model.time == TimeOf::Total ? resolved.startup_s : 0;
  std::optional<double> base;
  if (word) base = word->step_s * job->steps + startup_s;
  const std::vector<double> law = law_values(model, *job);
  const auto counts = [](double value) { return value > 0; };
  // Runs of such words, if each was measured, were not measured together: no law is theirs.
  if (!base && std::none_of(law.begin(), law.end(), counts)) return std::nullopt;
  const double time = time_s(model.form, law, *features, base);
  const bool inside = has_known_words(model, *job) && is_in_ranges(model, *features) &&
                      is_near(model, embedding, network->numbers);
  return Answer{name(),
                {{"step_time_s", of_step(model, time, job->steps, startup_s), inside,
                  model.residual ? kResidualWhy : kWhy}}};
}

}  // namespace foretrain::embedding

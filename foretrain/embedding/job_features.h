// SPDX-License-Identifier: Apache-2.0
// A job as numbers, before it runs: its model's embedding and counts, the cluster, the batch, the
// data set. docs/models/embedding.md lists them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/embedding/embedding_file.h"
#include "foretrain/embedding/work_counts.h"
#include "foretrain/engine/engine.h"
#include "foretrain/knowledge/scaling_model.h"

namespace foretrain::embedding {

// A model as the engine sees it.
struct EmbeddedModel {
  std::vector<float> numbers{};  // the embedding
  WorkCounts counts{};
};

// Of the resolved request's model; kept in the library where its name alone says which it is.
// Throws Error as `Model::graph` and `graph_input` do.
std::shared_ptr<const EmbeddedModel> embed_model(const Resolved& resolved,
                                                 const Embedding& embedding,
                                                 const Library& library);

// The operator engine's word on a step.
struct OperatorsWord {
  double step_s = 0;
  Breakdown breakdown{};
};

struct JobFeatures {
  std::vector<double> terms{};       // of the law, seconds: term_names()
  std::vector<double> values{};      // job_feature_names()
  std::vector<std::string> words{};  // word_fields()
  double steps = 1;                  // in the time that is told
};

const std::vector<std::string>& term_names();
// The numbers of an embedding come first. Those of the operator engine, last, are 0 without it.
std::vector<std::string> job_feature_names(std::size_t embedding_width);
std::span<const std::string_view> word_fields();

// Absent where the request does not say what the time is of, such as the samples of an epoch.
std::optional<JobFeatures> job_features(const Resolved& resolved, const EmbeddedModel& model,
                                        TimeOf time, const std::optional<OperatorsWord>& word);

// Of all features those that are asked for, in that order, a name such as "precision=fp16" being 1
// where the job has that word and else 0; nothing where one is not known.
std::optional<std::vector<double>> pick(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& names,
                                        const JobFeatures& job);

}  // namespace foretrain::embedding

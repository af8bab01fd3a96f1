// SPDX-License-Identifier: Apache-2.0
// The time of a network that was never run, from its embedding, its counts and the cluster: what
// `foretrain fit embedding` finds and the embedding engine uses. docs/models/embedding.md says how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/knowledge/scaling_model.h"
#include "foretrain/learn/feature_map.h"
#include "foretrain/learn/regressor.h"

namespace foretrain {

// From a job's features to a time: the base, times the exponential of what the regressor says.
struct EmbeddingForm {
  learn::LinearModel law{};  // plain: the base in seconds, from terms; weights are not negative
  learn::FeatureMap map{};   // products of features that the regressor sees
  learn::Regressor regressor{};
};

// `base_s`: where the target is a residual, the operator engine's time, else nothing.
double time_s(const EmbeddingForm& form, std::span<const double> terms,
              std::span<const double> features, std::optional<double> base_s);

// What a field of a request said in the measured jobs: "precision": "fp16", "fp32".
struct EmbeddingWords {
  std::string field{};
  std::vector<std::string> words{};
};

// Between which values a feature lay in the measured jobs.
struct EmbeddingRange {
  std::size_t feature = 0;
  ScalingRange range{};
};

struct EmbeddingModel {
  TimeOf time = TimeOf::Step;
  bool residual = false;                // of the operator engine's time; else plain
  std::uint32_t embedding = 0;          // checksum of the embedding that it was fitted with
  std::vector<std::string> features{};  // that the form knows, in its order
  std::vector<std::string> terms{};     // of the law
  EmbeddingForm form{};
  std::string method{};  // "svr, cost 10"; for people
  // Where the answer counts: words that were measured, ranges, and the embeddings of the networks
  // that were measured with how far from the nearest one a network may be.
  std::vector<EmbeddingWords> words{};
  std::vector<EmbeddingRange> domain{};
  std::size_t width = 0;          // of an embedding
  std::vector<float> networks{};  // row by row
  double reach = 0;
  // Ends of log(measured / predicted) on families left out; absent where these were too few.
  std::optional<double> low{};
  std::optional<double> high{};
  double confidence = 0.9;   // of the interval
  double error = 0;          // mean |predicted / measured - 1| of the same
  std::size_t rows = 0;      // that it was fitted on
  std::size_t families = 0;  // that these are of
  // Of the constants that the operator engine predicted with; "" where it took no part.
  std::string constants{};
};

inline constexpr const char* kEmbeddingModelFormat = "foretrain-embedding-model";

// Throws Error(BadInput) naming `where` for what is no such file, or was damaged.
EmbeddingModel read_embedding_model(std::string_view text, const std::string& where);
std::string write_embedding_model(const EmbeddingModel& model, std::span<const std::string> notes);

}  // namespace foretrain

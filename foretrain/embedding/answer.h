// SPDX-License-Identifier: Apache-2.0
// The embedding engine: the time of a network that was never run, from its embedding, its counts
// and the cluster, learned from measured runs of other networks; after PredictDDL (CLUSTER 2023).
#pragma once

#include "foretrain/engine/engine.h"

namespace foretrain::embedding {

class EmbeddingEngine : public Engine {
 public:
  std::string_view name() const override { return "embedding"; }
  // Nothing without an embedding model, for jobs whose models are split over workers, where no law
  // holds for the request's words, or where it does not say what it needs, such as the samples. For
  // networks, machines or batches that are unlike the measured ones the answer says so. Throws
  // Error(BadInput) where the model was fitted with another embedding or by another version of this
  // program.
  std::optional<Answer> answer(const Question& question) const override;
};

}  // namespace foretrain::embedding

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/embedding/embedding_file.h"
#include "foretrain/graph/graph.h"
#include "foretrain/learn/gated_graph.h"

namespace foretrain::embedding {

// Embeds model after model with what was prepared once. One thread at a time may use it.
class Embedder {
 public:
  explicit Embedder(Embedding embedding);

  const Embedding& embedding() const { return embedding_; }
  // Twice the width of a node's state. Throws Error as `graph_input` does.
  std::vector<float> embed(const graph::Graph& model);

 private:
  Embedding embedding_;
  learn::GatedGraphEvaluator evaluator_;
};

// Root of the mean of squared differences, each in spreads of its number over the training's
// graphs: about 1.4 for two graphs that were drawn at random.
double distance(const Embedding& embedding, const std::vector<float>& a,
                const std::vector<float>& b);

struct Neighbour {
  std::string name;
  std::string family;
  double distance = 0;
};

// The built-in models nearest to an embedding, the nearest first; not the random ones, and not
// `except`. `threads` as in parallel_for.
std::vector<Neighbour> nearest_models(const Embedding& embedding, const std::vector<float>& to,
                                      const std::string& except, std::size_t count, int threads);

}  // namespace foretrain::embedding

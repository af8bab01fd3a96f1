// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/embed.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "foretrain/base/parallel_for.h"
#include "foretrain/embedding/graph_input.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::embedding {

Embedder::Embedder(Embedding embedding)
    : embedding_(std::move(embedding)), evaluator_(embedding_.network) {}

std::vector<float> Embedder::embed(const graph::Graph& model) {
  return evaluator_.embed(graph_input(model, embedding_));
}

double distance(const Embedding& embedding, const std::vector<float>& a,
                const std::vector<float>& b) {
  assert(a.size() == b.size() && a.size() == embedding.spread.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = (double{a[i]} - double{b[i]}) / embedding.spread[i];
    sum += apart * apart;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<Neighbour> nearest_models(const Embedding& embedding, const std::vector<float>& to,
                                      const std::string& except, std::size_t count, int threads) {
  std::vector<Neighbour> found;
  for (const zoo::Model& model : zoo::models()) {
    if (model.name == "random" || model.name == except) continue;
    found.push_back({std::string(model.name), std::string(model.family), 0});
  }
  constexpr std::size_t kEach = 8;  // models that one evaluator takes
  parallel_for((found.size() + kEach - 1) / kEach, threads, [&](std::size_t part) {
    Embedder embedder(embedding);
    const std::size_t end = std::min(found.size(), (part + 1) * kEach);
    for (std::size_t i = part * kEach; i < end; ++i) {
      found[i].distance = distance(embedding, to, embedder.embed(zoo::build(found[i].name)));
    }
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; });
  found.resize(std::min(count, found.size()));
  return found;
}

}  // namespace foretrain::embedding

// SPDX-License-Identifier: Apache-2.0
// How well the times of networks that were never run are told: whole families left out, beside
// regressions on counts, the operator engine alone and Ernest.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/train/fit_embedding.h"

namespace foretrain::train {

// One way to predict, over all rows that were left out once.
struct WayScore {
  std::string way{};
  std::size_t rows = 0;
  double mean = 0;  // of |predicted / measured - 1|
  double median = 0;
  double inside = 0;  // share of the rows in the 90 % interval that the other folds' errors give
  std::vector<std::pair<std::string, double>> metrics{};  // the mean of each
};

// The mean error when so many networks were measured.
struct CurvePoint {
  std::size_t networks = 0;
  double plain = 0;
  double residual = 0;
  double trees = 0;  // boosted trees on FLOPs, activations and parameters
};

// Ernest on the same rows: a workload's own law from its first runs, tested on its others.
struct ErnestScore {
  std::size_t runs = 0;  // of each new workload; 0: one law of all the others' runs
  std::size_t workloads = 0;
  std::size_t rows = 0;
  double ernest = 0;  // mean errors
  double plain = 0;   // of the embedding, on the same rows
  double residual = 0;
  double sample_s = 0;  // that the runs took, the mean over workloads
};

struct EmbeddingTests {
  std::size_t rows = 0;
  std::size_t networks = 0;
  std::size_t families = 0;
  std::size_t folds = 0;
  std::vector<WayScore> ways{};
  std::vector<CurvePoint> curve{};
  std::vector<ErnestScore> ernest{};
  std::vector<std::pair<std::string, std::size_t>> chosen{};  // methods, by how many folds
};

struct EmbeddingTesting {
  EmbeddingFit fit{};   // its target does not matter: both are tested
  bool methods = true;  // every method by itself
  std::vector<std::size_t> curve{};
  std::vector<std::size_t> ernest{};  // counts of sample runs
};

// What is chosen is chosen by families of the rows learned from alone; rows left out are looked at
// once. `progress` is told the share that is done.
EmbeddingTests test_embedding(const EmbeddingData& data, const EmbeddingTesting& options,
                              const std::function<void(double)>& progress = {});

}  // namespace foretrain::train

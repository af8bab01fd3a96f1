// SPDX-License-Identifier: Apache-2.0
// What a batch of examples says about a network: squares of its errors, and their gradients.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "foretrain/learn/graph_network.h"
#include "foretrain/learn/tape.h"
#include "foretrain/train/example.h"

namespace foretrain::train {

// Tapes that are not in use, with the memory that they gathered.
class Tapes {
 public:
  learn::Tape take();
  void give_back(learn::Tape&& tape);

 private:
  std::mutex mutex_;
  std::vector<learn::Tape> spare_;
};

// Sums over examples.
struct SquareSums {
  double squares = 0;
  double count = 0;                             // of the targets that are there
  std::vector<std::vector<float>> gradients{};  // of `squares`, by parameter; empty: not asked for
};

// Parameters whose names begin with one of `frozen` get no gradient. The bits do not depend on the
// number of threads.
SquareSums square_sums(const learn::GraphNetwork& network,
                       std::span<const GraphExample* const> examples,
                       const std::vector<std::string>& frozen, int threads, Tapes& tapes);

bool is_frozen(const std::string& name, const std::vector<std::string>& frozen);

}  // namespace foretrain::train

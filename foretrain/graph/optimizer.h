// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace foretrain::graph {

enum class Optimizer {
  Sgd,
  Momentum,
  Adam,
  AdamW,
  Lamb,
  Adagrad,
  RmsProp,
  Lars,
  Adam8bit,
  AdamW8bit,
  Lion,
  Adafactor,
  PagedAdamW,
  PagedAdamW8bit,
  None
};

// How the values that an optimizer keeps between steps are stored.
enum class StateForm {
  Whole,     // as many as the parameter has, in fp32 or, with weights in 16 bits, in their type
  Blocks,    // one byte each, and an fp32 scale per block
  Factored,  // of a matrix, sums over its rows and over its columns
  Paged,     // in the host's memory, from where the driver fetches pages
};

// What an update needs per parameter: values kept between steps, and how many values a single
// fused kernel reads and writes (parameter and gradient included).
struct OptimizerRow {
  Optimizer optimizer;
  std::string_view name;
  int states;
  double reads;
  double writes;
  StateForm form = StateForm::Whole;
};

// Of states in bytes: values that share a scale, and the fewest of a parameter that is kept so;
// smaller ones keep fp32. Source: bitsandbytes, optim/optimizer.py; Dettmers et al., ICLR 2022.
inline constexpr std::int64_t kStateBlock = 2048;
inline constexpr std::int64_t kLeastInBlocks = 4096;

inline constexpr std::array kOptimizers{
    OptimizerRow{Optimizer::Sgd, "sgd", 0, 2, 1},
    OptimizerRow{Optimizer::Momentum, "momentum", 1, 3, 2},
    OptimizerRow{Optimizer::Adam, "adam", 2, 4, 3},
    OptimizerRow{Optimizer::AdamW, "adamw", 2, 4, 3},
    OptimizerRow{Optimizer::Lamb, "lamb", 2, 7, 4},  // second pass for the trust ratio
    OptimizerRow{Optimizer::Adagrad, "adagrad", 1, 3, 2},
    OptimizerRow{Optimizer::RmsProp, "rmsprop", 1, 3, 2},
    OptimizerRow{Optimizer::Lars, "lars", 1, 5, 2},  // norms of parameter and gradient first
    OptimizerRow{Optimizer::Adam8bit, "adam-8bit", 2, 4, 3, StateForm::Blocks},
    OptimizerRow{Optimizer::AdamW8bit, "adamw-8bit", 2, 4, 3, StateForm::Blocks},
    OptimizerRow{Optimizer::Lion, "lion", 1, 3, 2},
    OptimizerRow{Optimizer::Adafactor, "adafactor", 2, 2, 1, StateForm::Factored},
    OptimizerRow{Optimizer::PagedAdamW, "paged-adamw", 2, 4, 3, StateForm::Paged},
    OptimizerRow{Optimizer::PagedAdamW8bit, "paged-adamw-8bit", 2, 4, 3, StateForm::Paged},
    OptimizerRow{Optimizer::None, "none", 0, 0, 0},  // gradients only, as some benchmarks time
};

constexpr const OptimizerRow& row_of(Optimizer optimizer) {
  return kOptimizers[static_cast<std::size_t>(optimizer)];
}

constexpr std::optional<Optimizer> optimizer_named(std::string_view name) {
  for (const OptimizerRow& row : kOptimizers) {
    if (row.name == name) return row.optimizer;
  }
  return std::nullopt;
}

}  // namespace foretrain::graph

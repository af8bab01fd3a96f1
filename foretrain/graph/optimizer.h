// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace foretrain::graph {

enum class Optimizer { Sgd, Momentum, Adam, AdamW, Lamb, Adagrad, RmsProp, Lars, None };

// What an update needs per parameter: fp32 values kept between steps, and how many values a
// single fused kernel reads and writes (parameter and gradient included).
struct OptimizerRow {
  Optimizer optimizer;
  std::string_view name;
  int states;
  double reads;
  double writes;
};

inline constexpr std::array kOptimizers{
    OptimizerRow{Optimizer::Sgd, "sgd", 0, 2, 1},
    OptimizerRow{Optimizer::Momentum, "momentum", 1, 3, 2},
    OptimizerRow{Optimizer::Adam, "adam", 2, 4, 3},
    OptimizerRow{Optimizer::AdamW, "adamw", 2, 4, 3},
    OptimizerRow{Optimizer::Lamb, "lamb", 2, 7, 4},  // second pass for the trust ratio
    OptimizerRow{Optimizer::Adagrad, "adagrad", 1, 3, 2},
    OptimizerRow{Optimizer::RmsProp, "rmsprop", 1, 3, 2},
    OptimizerRow{Optimizer::Lars, "lars", 1, 5, 2},  // norms of parameter and gradient first
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/scaling/search.h"

namespace foretrain::cli {

// A search as CSV, a line per run: the variables, time_s (empty where it failed), what was expected
// to be gained, the goal and the best goal so far. Plots and resumed searches read it.
std::string history_csv(const scaling::SearchSpace& space,
                        const std::vector<scaling::Tried>& history,
                        const std::vector<std::optional<double>>& improvements,
                        const scaling::SearchOptions& options);

struct SearchHistory {
  std::vector<scaling::Tried> tried{};
  std::vector<std::optional<double>> improvements{};
};

// Empty where there is no such file. Throws Error(BadInput) for a file of another search.
SearchHistory read_history(const std::filesystem::path& file, const scaling::SearchSpace& space);

}  // namespace foretrain::cli

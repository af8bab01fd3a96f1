// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/scaling/search_space.h"

namespace foretrain::cli {

// How a configuration is tried: its time in seconds, absent where that failed.
using TryPoint = std::function<std::optional<double>(const std::vector<std::string>& point)>;

// The words of a command with {variable} in them; quotes keep words together, and no shell looks at
// them. Throws Error(BadInput) for a quote that is never closed or a variable that the space lacks.
std::vector<std::string> command_words(const std::string& text,
                                       const std::vector<std::string>& variables);

// With the point's values in place.
std::vector<std::string> filled(const std::vector<std::string>& words,
                                const std::vector<std::string>& variables,
                                const std::vector<std::string>& point);

// Runs the command; the last number that it prints is the time. Absent where it ends with an error,
// prints no positive number, or is silent for longer than `patience`. Throws Error(NotFound) where
// there is no such program.
TryPoint by_command(std::vector<std::string> words, std::vector<std::string> variables,
                    Seconds patience);

// Measured points of a CSV file: `variables` (empty: all columns but `goal`) and their mean `goal`.
struct MeasuredPoints {
  scaling::SearchSpace space{};
  std::vector<double> goals{};
  std::size_t rows = 0;  // more than there are points where some were measured several times
};
MeasuredPoints read_points(const std::string& file, std::vector<std::string> variables,
                           const std::string& goal);

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
// The configurations that a search chooses from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain::scaling {

struct SearchSpace {
  std::vector<std::string> variables{};
  std::vector<std::vector<std::string>> points{};  // the variables' values, as texts
  // The same in the unit cube: a number between the least and the most of its variable, by
  // logarithms where these are more than four times apart; a word by a dimension of its own.
  std::vector<std::vector<double>> coordinates{};
};

// A search looks at all points before each run, and a Gaussian process at all dimensions.
inline constexpr std::size_t kMostPoints = 100'000;
inline constexpr std::size_t kMostDimensions = 64;

// All combinations of {"variables": {"workers": [1, 2, 4], "strategy": ["ddp", "ps"]}}. Throws
// Error(BadInput) naming `where`: for what is no such object, and as space_of.
SearchSpace parse_space(std::string_view json, const std::string& where);

// These points, each with a text for every variable. Throws Error(BadInput) naming `where` for more
// points or dimensions than a search can look at.
SearchSpace space_of(std::vector<std::string> variables,
                     std::vector<std::vector<std::string>> points, const std::string& where);

std::optional<std::size_t> find_point(const SearchSpace& space,
                                      const std::vector<std::string>& point);

// The text as a number; absent where it is none. Nor is one of more than 150 digits, or as small,
// whose products with others would be infinite or 0.
std::optional<double> number_in(std::string_view text);

// A point in words: "workers=4, batch=32".
std::string describe_point(const SearchSpace& space, std::size_t point);

}  // namespace foretrain::scaling

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/cli/console.h"

namespace foretrain::cli {

// A piece of a bar. Pieces with the amount 0 are not shown.
struct Part {
  std::string name;
  double amount = 0;
  std::string text;   // the amount as people read it
  bool rest = false;  // what is left over: drawn empty
};

// How many of `cells` each amount gets: rounded so that they add up to all cells.
std::vector<int> divide_cells(const std::vector<double>& amounts, int cells);

// Two lines or more: the parts as one bar across the screen, each with its own sign or colour,
// and a legend. `mark` draws a line at that amount (the capacity that the parts exceed).
std::string render_bar(const std::vector<Part>& parts, std::optional<double> mark,
                       const Screen& screen);

}  // namespace foretrain::cli

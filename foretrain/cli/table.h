// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "foretrain/cli/paint.h"

namespace foretrain::cli {

struct Column {
  std::string title;
  bool right = false;     // numbers end at the right
  bool flexible = false;  // cut where the table would be wider than the screen
};

struct Cell {
  Cell(std::string words = "", Colour shade = Colour::None)  // NOLINT: text is a cell
      : text(std::move(words)), colour(shade) {}
  Cell(const char* words) : text(words) {}  // NOLINT: likewise
  std::string text;
  Colour colour = Colour::None;
};

// Rows may be shorter than the list of columns; the rest is empty.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

// The table with two spaces before and between columns. No line has spaces at its end. Whatever
// cells hold is made printable.
std::string render(const Table& given, const Screen& screen);

}  // namespace foretrain::cli

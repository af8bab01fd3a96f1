// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/table.h"

#include <algorithm>

#include "foretrain/base/near.h"

namespace foretrain::cli {
namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 8;  // of a flexible column

// Names come from files of others: nothing of them may speak to the terminal or break a line.
Table printable_table(Table table) {
  for (Column& column : table.columns) column.title = printable(column.title, std::string::npos);
  for (auto& row : table.rows) {
    for (Cell& cell : row) cell.text = printable(cell.text, std::string::npos);
  }
  return table;
}

// Width of each column, flexible ones shrunk to what the screen leaves, the widest first.
std::vector<int> column_widths(const Table& table, const Screen& screen) {
  std::vector<int> widths;
  int total = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = display_width(table.columns[c].title);
    for (const auto& row : table.rows) {
      if (c < row.size()) width = std::max(width, display_width(row[c].text));
    }
    widths.push_back(width);
    total += width + kGap;
  }
  while (total > screen.width) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (!table.columns[c].flexible || widths[c] <= kNarrowest) continue;
      if (widest == widths.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == widths.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

std::string render_row(const std::vector<Cell>& row, const Table& table,
                       const std::vector<int>& widths, const Screen& screen) {
  std::string line;
  std::size_t spaces = 0;  // held back, so that none ends the line
  for (std::size_t c = 0; c < std::min(row.size(), table.columns.size()); ++c) {
    const std::string text = cut(row[c].text, widths[c], screen);
    const auto rest = static_cast<std::size_t>(std::max(widths[c] - display_width(text), 0));
    spaces += kGap + (table.columns[c].right ? rest : 0);
    if (!text.empty()) {
      line += std::string(spaces, ' ') + paint(text, row[c].colour, screen);
      spaces = 0;
    }
    if (!table.columns[c].right) spaces += rest;
  }
  return line + "\n";
}

}  // namespace

std::string render(const Table& given, const Screen& screen) {
  const Table table = printable_table(given);
  const std::vector<int> widths = column_widths(table, screen);
  std::vector<Cell> titles;
  bool any_title = false;
  for (const Column& column : table.columns) {
    titles.emplace_back(column.title, Colour::Dim);
    any_title = any_title || !column.title.empty();
  }
  std::string text;
  if (any_title) text += render_row(titles, table, widths, screen);
  for (const auto& row : table.rows) text += render_row(row, table, widths, screen);
  return text;
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "foretrain/cli/paint.h"

namespace foretrain::cli {
namespace {

constexpr int kIndent = 2;

// Signs that stay apart without colours; with colours every piece is a full block.
constexpr std::array kBlocks{"█", "▓", "▒", "░", "▚", "▤", "▪", "▞"};
constexpr std::array kLetters{"#", "=", "+", "-", "%", "*", "o", "~"};
constexpr std::array kColours{Colour::Blue,   Colour::Cyan, Colour::Magenta, Colour::Green,
                              Colour::Yellow, Colour::Red,  Colour::White,   Colour::Bold};

std::string sign(const Part& part, std::size_t index, int times, const Screen& screen) {
  const std::size_t kind = index % kBlocks.size();
  std::string one = screen.unicode ? kBlocks.at(kind) : kLetters.at(kind);
  if (screen.colour && screen.unicode) one = kBlocks[0];
  if (part.rest) one = screen.unicode ? "·" : ".";
  std::string text;
  for (int i = 0; i < times; ++i) text += one;
  return paint(text, part.rest ? Colour::Dim : kColours.at(kind), screen);
}

// Entries side by side as far as the screen goes.
std::string legend(const std::vector<Part>& parts, const Screen& screen) {
  std::string lines;
  int column = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].amount <= 0) continue;
    const std::string words = " " + parts[i].name + " " + parts[i].text;
    const int width = kIndent + 1 + display_width(words);
    if (column > 0 && column + width > screen.width) {
      lines += "\n";
      column = 0;
    }
    lines += std::string(kIndent, ' ') + sign(parts[i], i, 1, screen) + words;
    column += width;
  }
  return lines + "\n";
}

}  // namespace

std::vector<int> divide_cells(const std::vector<double>& amounts, int cells) {
  const double total = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  std::vector<int> result;
  result.reserve(amounts.size());
  double before = 0;
  int used = 0;
  for (const double amount : amounts) {  // each piece ends where the exact bar would, rounded
    before += amount;
    const int end = total > 0 ? static_cast<int>(std::lround(before / total * cells)) : 0;
    result.push_back(end - used);
    used = end;
  }
  return result;
}

std::string render_bar(const std::vector<Part>& parts, std::optional<double> mark,
                       const Screen& screen) {
  std::vector<double> amounts;
  amounts.reserve(parts.size());
  for (const Part& part : parts) amounts.push_back(std::max(part.amount, 0.0));
  const int cells = screen.width - 2 * kIndent - (mark ? 1 : 0);
  const std::vector<int> counts = divide_cells(amounts, cells);
  const double total = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  const std::string line = screen.unicode ? "┃" : "|";
  int left = mark && total > 0 ? static_cast<int>(std::lround(*mark / total * cells)) : cells + 1;
  std::string bar(kIndent, ' ');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (left > counts[i] || left < 0) {
      bar += sign(parts[i], i, counts[i], screen);
    } else {
      bar += sign(parts[i], i, left, screen) + paint(line, Colour::Bold, screen) +
             sign(parts[i], i, counts[i] - left, screen);
    }
    left -= counts[i];
    if (left <= 0 && mark) left = -1;
  }
  return bar + "\n" + legend(parts, screen);
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/paint.h"

#include <array>

#include "foretrain/base/near.h"

namespace foretrain::cli {
namespace {

// ANSI "select graphic rendition", in the order of Colour.
constexpr std::array kCodes{"0", "1", "2", "31", "32", "33", "34", "35", "36", "37"};

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

std::string paint(std::string_view text, Colour colour, const Screen& screen) {
  if (!screen.colour || colour == Colour::None || text.empty()) return std::string(text);
  return std::string("\033[") + kCodes.at(static_cast<std::size_t>(colour)) + "m" +
         std::string(text) + "\033[0m";
}

int display_width(std::string_view text) {
  int width = 0;
  for (const char c : text) width += starts_character(c) ? 1 : 0;
  return width;
}

std::string cut(std::string_view text, int width, const Screen& screen) {
  if (display_width(text) <= width) return std::string(text);
  const std::string mark = screen.unicode ? "…" : "~";
  std::string kept;
  int columns = 0;
  for (const char c : text) {
    if (starts_character(c) && ++columns >= width) break;
    kept += c;
  }
  return kept + mark;
}

std::string wrap(std::string_view given, const std::string& given_bullet, const Screen& screen) {
  const std::string safe = printable(given, std::string::npos);
  const std::string bullet = printable(given_bullet, std::string::npos);  // may hold a value too
  std::string_view text = safe;
  const int indent = display_width(bullet);
  std::string lines = bullet;
  int column = indent;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const int width = display_width(word);
    if (column > indent && column + 1 + width > screen.width) {
      lines += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
  }
  return lines + "\n";
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "foretrain/cli/console.h"

namespace foretrain::cli {

enum class Colour { None, Bold, Dim, Red, Green, Yellow, Blue, Magenta, Cyan, White };

// `text` in a colour where the screen has colours, else as it is.
std::string paint(std::string_view text, Colour colour, const Screen& screen);

// Columns that UTF-8 text takes: one for each character.
int display_width(std::string_view text);

// The first `width` columns of the text, the last one being a mark where something is cut.
std::string cut(std::string_view text, int width, const Screen& screen);

// Breaks text at spaces into lines of the screen's width; the first starts with `bullet`, the
// others are indented as far. Ends in a line break. The text is made printable.
std::string wrap(std::string_view given, const std::string& bullet, const Screen& screen);

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
// Pieces of pictures that stand alone: no script, no font, nothing loaded.
#pragma once

#include <string>

namespace foretrain {

std::string svg_number(double value);  // with one digit behind the point: a tenth of a pixel

// Text at a place; what a page could misread is escaped.
std::string svg_text(double x, double y, const std::string& text, const char* anchor = "start");

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/svg.h"

#include "foretrain/base/escape_xml.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"

namespace foretrain {

std::string svg_number(double value) { return format("%.1f", value); }

std::string svg_text(double x, double y, const std::string& text, const char* anchor) {
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" text-anchor=\"" + anchor +
         "\">" + escape_xml(printable(text, std::string::npos)) + "</text>\n";
}

}  // namespace foretrain

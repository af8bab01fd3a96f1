// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

// `text` as it may stand in SVG and HTML, between tags and in quotes: & < > " become entities.
// Control characters stay; names that others gave go through printable() first.
std::string escape_xml(std::string_view text);

}  // namespace foretrain

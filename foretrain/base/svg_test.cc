// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/svg.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(Svg, TextCannotEndItsElement) {
  EXPECT_EQ(svg_text(1, 2.25, "a</text><script>", "end"),
            "<text x=\"1.0\" y=\"2.2\" text-anchor=\"end\">a&lt;/text&gt;&lt;script&gt;</text>\n");
}

}  // namespace
}  // namespace foretrain

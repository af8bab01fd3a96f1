// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/timeline.h"

#include <gtest/gtest.h>

namespace foretrain::profile {
namespace {

// Names come from files and command lines; XML knows neither escape nor bytes that are not UTF-8.
TEST(Timeline, HoldsNamesThatXmlCannot) {
  const Recording recording{.name = "a<b\x1b\xff", .columns = {{"c&d\xfe", "%", {1, 2}}}};
  const Profile profile = analyse(recording);
  const std::string svg = timeline_svg(recording, profile);
  EXPECT_NE(svg.find("<title>a&lt;b\\x1b\\xff</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("c&amp;d\\xfe"), std::string::npos) << svg;
  const std::string html = timeline_html(recording, profile);
  EXPECT_EQ(html.find_first_of("\x1b\xff\xfe"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::profile

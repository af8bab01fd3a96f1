// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/escape_xml.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(EscapeXml, LeavesNoMarkup) {
  EXPECT_EQ(escape_xml("a <b c=\"d\"> & e"), "a &lt;b c=&quot;d&quot;&gt; &amp; e");
  EXPECT_EQ(escape_xml("&amp;"), "&amp;amp;");
  EXPECT_EQ(escape_xml("two\nlines, \xc3\xa9"), "two\nlines, \xc3\xa9");
}

}  // namespace
}  // namespace foretrain

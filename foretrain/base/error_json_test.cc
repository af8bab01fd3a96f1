// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/error_json.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

TEST(ErrorJson, HasKindAndMessageOnOneLine) {
  EXPECT_EQ(error_json(Error(ErrorKind::NotFound, "no \"x\"\n")),
            R"({"error":{"kind":"NotFound","message":"no \"x\"\n"}})");
  EXPECT_EQ(error_json(std::runtime_error("broken")),
            R"({"error":{"kind":"Internal","message":"broken"}})");
  EXPECT_EQ(error_json(Error(ErrorKind::Io, "\xff")),  // no UTF-8
            "{\"error\":{\"kind\":\"Io\",\"message\":\"\xef\xbf\xbd\"}}");
}

}  // namespace
}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/error.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(Error, CarriesKindAndMessage) {
  const Error error(ErrorKind::NotFound, "no device 'x'");
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_STREQ(error.what(), "no device 'x'");
}

TEST(Error, KindsHaveTheirNames) {
  EXPECT_STREQ(to_string(ErrorKind::BadInput), "BadInput");
  EXPECT_STREQ(to_string(ErrorKind::NotFound), "NotFound");
  EXPECT_STREQ(to_string(ErrorKind::Unsupported), "Unsupported");
  EXPECT_STREQ(to_string(ErrorKind::Io), "Io");
}

}  // namespace
}  // namespace foretrain

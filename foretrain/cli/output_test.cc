// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/output.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

TEST(Output, LeavesAFileAsItIsUntilItIsWritten) {
  Console console;
  const TemporaryFile file("output.txt", "old and long");
  Output output(file.path(), console);
  EXPECT_EQ(read_text(file.path()), "old and long");
  output.write("n");
  output.write("ew");
  output.close();
  EXPECT_EQ(read_text(file.path()), "new");
}

TEST(Output, RefusesAtOnceWhatCannotBeWritten) {
  Console console;
  EXPECT_THROW(Output("/no-such-folder/x", console), Error);
  EXPECT_THROW(Output("/tmp", console), Error);
}

TEST(Output, IsNotWantedWithoutAName) {
  Console console;
  Output output("", console);
  EXPECT_FALSE(output.wanted());
  output.write("x");
  output.close();
}

TEST(Output, SaysWhereTheDiskIsFull) {
  Console console;
  Output output("/dev/full", console);
  EXPECT_THROW(
      {
        output.write("x");
        output.close();
      },
      Error);
}

}  // namespace
}  // namespace foretrain::cli

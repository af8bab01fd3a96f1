// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/output.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "foretrain/base/error.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

TEST(Output, LeavesAFileAsItIsUntilTheNewOneIsWhole) {
  Console console;
  const TemporaryFile file("output.txt", "old and long");
  Output output(file.path(), console);
  output.write("n");
  output.write("ew");
  EXPECT_EQ(read_text(file.path()), "old and long");
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

// SIGXFSZ would end the program without a word.
TEST(Output, ALimitOfFileSizesIsAnErrorAndTheEarlierFileStays) {
  const TemporaryFile file("limited.json", "old");
  const int child = fork();
  if (child == 0) {
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    close(STDERR_FILENO);
    become_program({"graph", "resnet50", "--ftg", file.path()});
  }
  EXPECT_EQ(wait_for(child), 1);
  EXPECT_EQ(read_text(file.path()), "old");
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

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "foretrain/base/error.h"
#include "foretrain/lab/child.h"
#include "foretrain/lab/detail/command.h"

namespace foretrain::lab {
namespace {

// The signal would end this process before and, were it still there, after.
TEST(Interrupt, NotesASignalThatWouldEndTheProcess) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Interrupt interrupt;
    EXPECT_FALSE(interrupt.raised());
    raise(number);
    EXPECT_TRUE(interrupt.raised());
    EXPECT_TRUE(interrupt.raised());
  }
}

TEST(Interrupt, LeavesWhatIsIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const Interrupt interrupt;
    raise(SIGHUP);
    EXPECT_FALSE(interrupt.raised());
  }
  std::signal(SIGHUP, before);
}

TEST(Interrupt, EndsWaitingForAChild) {
  const Interrupt interrupt;
  Child child({.words = {"sh", "-c", "echo here; exec sleep 60"}, .interrupt = &interrupt});
  EXPECT_EQ(child.read_line(Seconds{10}), "here");
  raise(SIGINT);
  try {
    child.read_line(Seconds{60});
    FAIL() << "went on waiting";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "interrupted");
  }
}

// A terminal's signals go to the processes of its own session; others end a child as usual.
TEST(Interrupt, IsNotOfChildren) {
  const Interrupt interrupt;
  Child child({.words = {"sh", "-c", "echo here; exec sleep 60"}});
  EXPECT_EQ(child.read_line(Seconds{10}), "here");
  EXPECT_EQ(getsid(child.pid()), child.pid());
  EXPECT_EQ(run_command({"sh", "-c", "kill -TERM $$; echo alive"}).code, -1);
  EXPECT_FALSE(interrupt.raised());
}

}  // namespace
}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/lab/detail/command.h"

namespace foretrain::lab {
namespace {

TEST(Child, TalksByLines) {
  Child cat({.words = {"cat"}});
  cat.write_line("one");
  cat.write_line(std::string(200'000, 'x'));
  EXPECT_EQ(cat.read_line(Seconds{10}), "one");
  EXPECT_EQ(cat.read_line(Seconds{10})->size(), 200'000U);
  cat.close_input();
  EXPECT_EQ(cat.read_line(Seconds{10}), std::nullopt);
  EXPECT_EQ(cat.wait(), 0);
}

TEST(Child, WhoseLineNeverEndsIsAnError) {
  Child endless({.words = {"cat", "/dev/zero"}});
  try {
    endless.read_line(Seconds{60});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("never ends"), std::string::npos) << error.what();
  }
}

TEST(Child, ThatDoesNotAnswerIsAnError) {
  Child silent({.words = {"sleep", "60"}});
  EXPECT_THROW(silent.read_line(Seconds{0.05}), Error);
}

// The shell has ended; what it started holds the pipe open, silent or writing for ever.
TEST(Child, ThatHasEndedIsNotWaitedFor) {
  for (const char* left : {"sleep 60 &", "(sleep 0.1; exec yes) &"}) {
    Child child({.words = {"sh", "-c", std::string(left) + " echo 3; echo rest"},
                 .output_ends_with_it = true});
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(child.read_line(Seconds{50}), "3");
    EXPECT_EQ(child.read_line(Seconds{50}), "rest");
    EXPECT_EQ(child.read_line(Seconds{50}), std::nullopt);
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start), Seconds{40});
  }
}

TEST(Child, WithoutOutputIsWaitedForInBoundedTime) {
  Child silent({.words = {"sh", "-c", "exec sleep 60 >&-"}});
  EXPECT_EQ(silent.read_line(Seconds{50}), std::nullopt);
  EXPECT_THROW(silent.wait(Seconds{0.05}), Error);
  Child ends({.words = {"sh", "-c", "exit 3"}});
  EXPECT_EQ(ends.wait(Seconds{50}), 3);
}

// Whether a killed process goes: its zombie is gone, or is one, once somebody else has been told.
bool goes(int pid) {
  for (int i = 0; i < 200; ++i) {
    const std::string state = run_command({"ps", "-o", "state=", "-p", std::to_string(pid)}).text;
    if (state.empty() || state.starts_with("Z")) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(Child, IsKilledWithWhatItHasStarted) {
  int grandchild = 0;
  {
    Child shell({.words = {"sh", "-c", "sleep 60 & echo $!; wait"}});
    grandchild = std::stoi(*shell.read_line(Seconds{50}));
    EXPECT_EQ(kill(grandchild, 0), 0);
  }
  EXPECT_TRUE(goes(grandchild));
}

// Lines come in any order; the slow one's does not hold up what the quick one says.
TEST(Child, LinesOfSeveralComeAsTheyCome) {
  Child slow({.words = {"sh", "-c", "sleep 0.2; echo slow; cat"}});
  Child quick({.words = {"sh", "-c", "echo quick; cat"}});
  const std::vector<Child*> both{&slow, &quick};
  std::vector<std::string> seen;
  const auto accept = [&seen](const std::string& line) { seen.push_back(line); };
  EXPECT_EQ(Child::read_lines(both, Seconds{10}, accept),
            (std::vector<std::string>{"slow", "quick"}));
  EXPECT_EQ(seen, (std::vector<std::string>{"quick", "slow"}));
}

// One that ends is noticed while another is silent.
TEST(Child, OneThatEndsLeavesNobodyWaiting) {
  Child silent({.words = {"sleep", "60"}});
  Child ends({.words = {"true"}});
  const std::vector<Child*> both{&silent, &ends};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(Child::read_lines(both, Seconds{50}, [](const std::string&) {}), Error);
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start), Seconds{40});
}

TEST(Child, TellsAKillFromAnEnd) {
  Child killed({.words = {"sleep", "60"}});
  kill(killed.pid(), SIGKILL);
  EXPECT_TRUE(killed.was_killed());
  Child ended({.words = {"false"}});
  EXPECT_FALSE(ended.was_killed());
}

TEST(Child, GetsItsEnvironment) {
  EXPECT_EQ(run_command({"sh", "-c", "echo out; echo err >&2; exit 3"}).text, "out\nerr\n");
  Child child({.words = {"sh", "-c", "echo $FORETRAIN_X"}, .environment = {"FORETRAIN_X=here"}});
  EXPECT_EQ(child.read_line(Seconds{10}), "here");
}

TEST(Command, ThatFailsSaysWhy) {
  EXPECT_EQ(run_command({"sh", "-c", "exit 3"}).code, 3);
  EXPECT_EQ(run_command({"no-such-program-here"}).code, 127);
  EXPECT_THROW(must_run({"false"}), Error);
}

// The child of a process that is killed ends too.
TEST(Child, EndsWithItsParent) {
  int link[2];
  ASSERT_EQ(pipe(link), 0);
  const int parent = fork();
  if (parent == 0) {
    Child child({.words = {"sleep", "600"}});
    const int pid = child.pid();
    if (write(link[1], &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    pause();
    _exit(0);
  }
  int pid = 0;
  ASSERT_EQ(read(link[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
  EXPECT_EQ(kill(pid, 0), 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(goes(pid));
}

}  // namespace
}  // namespace foretrain::lab

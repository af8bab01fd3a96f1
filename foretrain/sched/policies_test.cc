// SPDX-License-Identifier: Apache-2.0
// Small cases that were worked out by hand: (submit, duration, devices), then who runs when.
#include "foretrain/sched/detail/policies.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/sched/test_runs.h"

namespace foretrain::sched {
namespace {

TestSetup one_node(const std::string& policy, int devices) {
  TestSetup setup;
  setup.policy = policy;
  setup.cluster = test_cluster(1, devices);
  return setup;
}

void expect_times(const TestRun& run, const std::string& job, double start, double end,
                  int preemptions = 0) {
  const Fate& fate = run.jobs.at(job);
  EXPECT_EQ(fate.start, start) << job;
  EXPECT_EQ(fate.end, end) << job;
  EXPECT_EQ(fate.preemptions, preemptions) << job;
}

const std::vector<Job> kBlocked = {test_job("a", 0, 10, 1), test_job("b", 0, 5, 2),
                                   test_job("c", 0, 1, 1)};

// b does not fit beside a, so c waits behind it.
TEST(Fifo, TheFirstBlocksTheRest) {
  const TestRun run = run_jobs(one_node("fifo", 2), kBlocked);
  expect_times(run, "a", 0, 10);
  expect_times(run, "b", 10, 15);
  expect_times(run, "c", 15, 16);
}

TEST(Backfill, WhatFitsGoesAhead) {
  const TestRun run = run_jobs(one_node("backfill", 2), kBlocked);
  expect_times(run, "a", 0, 10);
  expect_times(run, "b", 10, 15);
  expect_times(run, "c", 0, 1);
}

// b is passed over because a starts; nothing happens until 10.
TEST(LongestPending, PassesOverWhoIsBehindOneThatStarts) {
  const TestRun run = run_jobs(one_node("lpjf", 4),
                               {test_job("a", 0, 10), test_job("b", 0, 10), test_job("c", 0, 10)});
  expect_times(run, "a", 0, 10);
  expect_times(run, "b", 10, 20);
  expect_times(run, "c", 0, 10);
}

// At 2 the small job goes first and leaves one device, which is not enough for a.
TEST(FewestGpus, StopsTheLargerJob) {
  const TestRun run =
      run_jobs(one_node("fewest-gpus", 2), {test_job("a", 0, 10, 2), test_job("b", 2, 3, 1)});
  expect_times(run, "a", 0, 13, 1);
  expect_times(run, "b", 2, 5);
}

TEST(ShortestJob, IsNotPreemptive) {
  const TestRun run = run_jobs(one_node("sjf", 1),
                               {test_job("a", 0, 10), test_job("b", 1, 5), test_job("c", 1, 2)});
  expect_times(run, "a", 0, 10);
  expect_times(run, "b", 12, 17);
  expect_times(run, "c", 10, 12);
}

// At 1 b needs 5 and a still 9; at 2 c needs 2 and b still 4.
TEST(ShortestRest, StopsWhoNeedsLonger) {
  const TestRun run = run_jobs(one_node("srtf", 1),
                               {test_job("a", 0, 10), test_job("b", 1, 5), test_job("c", 2, 2)});
  expect_times(run, "a", 0, 17, 1);
  expect_times(run, "b", 1, 8, 1);
  expect_times(run, "c", 2, 4);
}

// At 1 b has run 9 of 10 seconds... c needs as long as a still does: a waits already, c is later.
TEST(ShortestRest, TiesGoToTheEarlierJob) {
  const TestRun run = run_jobs(one_node("srtf", 1),
                               {test_job("a", 0, 4), test_job("b", 0, 4), test_job("c", 0, 4)});
  expect_times(run, "a", 0, 4);
  expect_times(run, "b", 4, 8);
  expect_times(run, "c", 8, 12);
}

// Device times at 0: b 8, a 10. At 1: c 5, b 6, a 10: c and a run, b does not fit beside c.
// At 6 a still needs 5, b 6.
TEST(SmallestRest, CountsDevices) {
  const TestRun run =
      run_jobs(one_node("srgt", 2),
               {test_job("a", 0, 10, 1), test_job("b", 0, 4, 2), test_job("c", 1, 5, 1)});
  expect_times(run, "a", 1, 11);
  expect_times(run, "b", 0, 14, 1);
  expect_times(run, "c", 1, 6);
}

TEST(Priority, TheHigherStopsTheLower) {
  std::vector<Job> jobs = {test_job("a", 0, 10), test_job("b", 3, 2)};
  jobs[1].priority = 5;
  const TestRun run = run_jobs(one_node("priority", 1), jobs);
  expect_times(run, "a", 0, 12, 1);
  expect_times(run, "b", 3, 5);
}

// b must end by 11, a by 100, c whenever.
TEST(Deadline, TheEarliestGoesFirst) {
  std::vector<Job> jobs = {test_job("c", 0, 3), test_job("a", 0, 10), test_job("b", 1, 4)};
  jobs[1].deadline = Seconds{100};
  jobs[2].deadline = Seconds{10};
  const TestRun run = run_jobs(one_node("deadline", 1), jobs);
  expect_times(run, "a", 0, 14, 1);
  expect_times(run, "b", 1, 5);
  expect_times(run, "c", 14, 17);
  EXPECT_EQ(run.summary.late, 0);
}

// a falls at 5, b runs and falls at 10, behind a that waits there already.
TEST(LeastAttained, AJobFallsWhenItHasHadItsShare) {
  TestSetup setup = one_node("dlas", 1);
  setup.policy_options.limits = {5};
  const TestRun run = run_jobs(setup, {test_job("a", 0, 8), test_job("b", 1, 8)});
  expect_times(run, "a", 0, 13, 1);
  expect_times(run, "b", 5, 16, 1);
}

// Two devices for 5 s are 10 device seconds; then b runs and leaves one, not enough for a.
TEST(LeastAttained, DeviceTimeCountsDevices) {
  TestSetup setup = one_node("dlas-gpu", 2);
  setup.policy_options.limits = {10};
  const TestRun run = run_jobs(setup, {test_job("a", 0, 8, 2), test_job("b", 1, 3, 1)});
  expect_times(run, "a", 0, 11, 1);
  expect_times(run, "b", 5, 8);
}

// Of the jobs before, three took 1 s and one 100. A new one ends with 3/4 in a second that it
// takes whole: index 0.75. One that is older than 1 s has 1 / 99. So b, new, stops a at 1.
TEST(Gittins, ANewJobIsLikelierToEndThanAnOldOne) {
  TestSetup setup = one_node("gittins", 1);
  setup.policy_options.history = {1, 100, 1, 1};
  const TestRun run = run_jobs(setup, {test_job("a", 0, 5), test_job("b", 0.5, 1)});
  expect_times(run, "a", 0, 6, 1);
  expect_times(run, "b", 1, 2);
}

TEST(Gittins, NeedsAHistory) {
  EXPECT_THROW(run_jobs(one_node("gittins", 1), {test_job("a", 0, 5)}), Error);
}

// b waits for all four devices, which are free at 10. c would run until 11, d until 10.
TEST(Easy, OnlyWhatEndsByTheReservationGoesAhead) {
  const TestRun run =
      run_jobs(one_node("easy", 4), {test_job("a", 0, 10, 2), test_job("b", 1, 5, 4),
                                     test_job("c", 2, 9, 1), test_job("d", 3, 7, 1)});
  expect_times(run, "b", 10, 15);
  expect_times(run, "c", 15, 24);
  expect_times(run, "d", 3, 10);
}

// At 10 four devices are free and b needs three: one is to spare for as long as c likes.
TEST(Easy, WhatTheReservationLeavesMayBeUsed) {
  const TestRun run =
      run_jobs(one_node("easy", 4),
               {test_job("a", 0, 10, 3), test_job("b", 1, 5, 3), test_job("c", 2, 50, 1)});
  expect_times(run, "b", 10, 15);
  expect_times(run, "c", 2, 52);
}

// At 10 user x still holds a device and y none, so y's job goes before x's earlier one.
TEST(FairShare, WhoHoldsLessIsServedNext) {
  std::vector<Job> jobs = {test_job("x1", 0, 10), test_job("x2", 0, 20), test_job("x3", 0, 10),
                           test_job("y1", 1, 10)};
  for (Job& job : jobs) job.user = job.name.substr(0, 1);
  const TestRun run = run_jobs(one_node("fair-share", 2), jobs);
  expect_times(run, "x3", 20, 30);
  expect_times(run, "y1", 10, 20);
}

// Half of the time each, in rounds of 5 s.
TEST(MaxMin, EqualJobsTakeTurns) {
  TestSetup setup = one_node("max-min", 1);
  setup.policy_options.round = Seconds{5};
  const TestRun run = run_jobs(setup, {test_job("a", 0, 10), test_job("b", 0, 10)});
  expect_times(run, "a", 0, 15, 1);
  expect_times(run, "b", 5, 20, 1);
}

// a is twice as fast on type 0, b as fast on both; one device of each. b's relative speed is at
// most 1 anywhere, a's is 4/3 on type 0: a gets type 0 whole and b type 1.
TEST(MaxMin, FastDevicesGoToWhomTheyHelp) {
  TestSetup setup;
  setup.policy = "max-min";
  setup.cluster = test_cluster(1, 1, 2);
  setup.durations = [](const Job& job, const Allocation& where) {
    Timing timing = traced_duration(job, where);
    if (job.name == "a" && where.pool == 1) timing.actual = timing.predicted *= 2;
    return timing;
  };
  const TestRun run = run_jobs(setup, {test_job("b", 0, 10), test_job("a", 0, 10)});
  expect_times(run, "a", 0, 10);
  expect_times(run, "b", 0, 10);
}

TEST(Policies, EveryNameRuns) {
  for (const PolicyEntry& entry : policies()) {
    TestSetup setup = one_node(std::string(entry.name), 2);
    setup.policy_options.history = {1, 2, 3};
    const TestRun run = run_jobs(setup, kBlocked);
    EXPECT_EQ(run.summary.completed, 3) << entry.name;
  }
}

TEST(Policies, UnknownNamesListNearOnes) {
  try {
    find_policy("srft");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::NotFound);
    EXPECT_NE(std::string(error.what()).find("srtf"), std::string::npos);
  }
}

}  // namespace
}  // namespace foretrain::sched

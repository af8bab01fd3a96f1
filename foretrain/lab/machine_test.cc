// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/machine.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "foretrain/lab/child.h"

namespace foretrain::lab {
namespace {

TEST(Machine, IsTheSameEveryTime) {
  const store::Machine machine = describe_machine();
  EXPECT_EQ(machine.id, describe_machine().id);
  EXPECT_TRUE(machine.id.starts_with("lab-"));
  EXPECT_GE(machine.cores.value(), 1);
  EXPECT_GT(machine.memory_bytes.value(), 0);
}

double used_by(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double used() { return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN); }

// What the system says of us and of a child that has computed. Ticks are 10 ms, four of them round.
TEST(OwnCpuTime, CountsChildren) {
  const double before = used();
  const Seconds start = own_cpu_time();
  Child busy({.words = {"sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"}});
  busy.wait();
  const double grown = used() - before;
  EXPECT_GT(grown, 0.02);
  EXPECT_NEAR((own_cpu_time() - start).count(), grown, 0.04);
}

// Each core multiplies 4500 pairs of matrices of 64 x 64, 2.4e9 operations, of which no core does
// 1e12 in a second. What the cores take together is no less than the CPU time of it, but for the
// memory of 16 MiB that each makes before.
TEST(Calibration, TakesAsLongAsItsWork) {
  const double before = used_by(RUSAGE_CHILDREN);
  const double time_s = calibrate({}).count();
  const double cpu_s = used_by(RUSAGE_CHILDREN) - before;
  EXPECT_GT(time_s, 0.0024);
  EXPECT_GT(cpu_s, 0.0024 * core_count());
  EXPECT_GE(time_s * core_count(), cpu_s - 0.1 * core_count());
}

// Between a tape and the fastest cache.
TEST(MemoryBandwidth, IsThatOfAMemory) {
  EXPECT_GT(memory_bytes_per_s(), 1e8);
  EXPECT_LT(memory_bytes_per_s(), 1e13);
}

TEST(ForeignLoad, IsNoMoreThanAllCores) {
  const ForeignLoad load;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GE(load.cores(), 0);
  EXPECT_LE(load.cores(), 1.3 * core_count());
}

// A loop whose parent ends is nobody's child here; it tells its own CPU time. Ticks are 10 ms.
TEST(ForeignLoad, CountsWhatIsNotOurs) {
  const auto start = std::chrono::steady_clock::now();
  const ForeignLoad load;
  Child orphan(
      {.words = {"sh", "-c", "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; times) &"}});
  orphan.wait();
  std::string line;
  while (const auto next = orphan.read_line(Seconds{120})) line = line.empty() ? *next : line;
  const Seconds elapsed = std::chrono::steady_clock::now() - start;
  const double cores = load.cores();
  ASSERT_TRUE(line.starts_with("0m")) << line;
  const double user_s = std::stod(line.substr(2));
  EXPECT_GT(user_s, 0.05);
  EXPECT_GE(cores * elapsed.count(), user_s - 0.05);
}

}  // namespace
}  // namespace foretrain::lab

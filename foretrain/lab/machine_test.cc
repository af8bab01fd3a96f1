// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/machine.h"

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

TEST(Calibration, TakesTime) {
  EXPECT_GT(calibrate({}).count(), 0.001);
  EXPECT_GT(memory_bytes_per_s(), 1e8);
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

// Nobody can use more than there is.
TEST(ForeignLoad, LiesBetweenNothingAndAllCores) {
  const ForeignLoad load;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GE(load.cores(), 0);
  EXPECT_LE(load.cores(), 1.3 * core_count());
}

}  // namespace
}  // namespace foretrain::lab

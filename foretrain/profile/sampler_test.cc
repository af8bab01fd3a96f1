// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/test_wave.h"

namespace foretrain::profile {
namespace {

Recording sample(Wave& wave, SamplerOptions options = {}, double* cost = nullptr) {
  Sampler sampler({{.name = "wave", .processes = {wave.process()}, .cores = 1}},
                  std::move(options));
  sampler.start();
  sleep_s(0.05);
  const double begin = clock_s(CLOCK_MONOTONIC);
  wave.go();
  wave.wait();
  sleep_s(0.05);
  Recording recording = sampler.stop().at(0);
  if (cost != nullptr) {
    *cost = sampler.cpu_time().count() / (clock_s(CLOCK_MONOTONIC) - begin + 0.05);
  }
  return recording;
}

double area(const Recording& recording, const char* name) {
  const std::vector<double>& samples = find_column(recording, name)->samples;
  return std::accumulate(samples.begin(), samples.end(), 0.0) * recording.window.count();
}

// Means over what the generator recorded; the first and the last burst touch the edges of nothing,
// but idles exist only between bursts.
struct Truth {
  double total = 0;
  double burst_amount = 0;  // per second
  double burst_s = 0;
  double idle_s = 0;
};

Truth truth_of(const WaveRecord& record) {
  Truth truth;
  double in_bursts = 0;
  for (int i = 0; i < record.bursts; ++i) {
    in_bursts += record.amount[i];
    truth.burst_s += (record.end_s[i] - record.begin_s[i]) / record.bursts;
    if (i > 0) truth.idle_s += (record.begin_s[i] - record.end_s[i - 1]) / (record.bursts - 1);
  }
  truth.total = in_bursts + record.idle_amount;
  truth.burst_amount = in_bursts / (truth.burst_s * record.bursts);
  return truth;
}

const ResourceUse& use_of(const Profile& profile, const std::string& name) {
  for (const ResourceUse& use : profile.resources) {
    if (use.name == name) return use;
  }
  throw Error(ErrorKind::NotFound, name);
}

double off(double measured, double truth) { return std::abs(measured / truth - 1); }

void expect_recovered(const resource::Bursts& bursts, const Truth& truth, double factor) {
  ASSERT_EQ(bursts.pattern, resource::Pattern::BIB);
  EXPECT_LT(off(bursts.burst_amount.value(), truth.burst_amount * factor), 0.02);
  EXPECT_LT(off(bursts.burst->count(), truth.burst_s), 0.02);
  EXPECT_LT(off(bursts.idle->count(), truth.idle_s), 0.02);
  std::printf("  amount %.2f (truth %.2f), burst %.1f ms (%.1f), idle %.1f ms (%.1f)\n",
              bursts.burst_amount.value(), truth.burst_amount * factor, bursts.burst->count() * 1e3,
              truth.burst_s * 1e3, bursts.idle->count() * 1e3, truth.idle_s * 1e3);
}

// Totals hold on a loaded machine too, since the generator says what it truly got.
TEST(Sampler, FindsAllCpuTime) {
  Wave wave([](WaveRecord& record) { cpu_wave({}, record); });
  ASSERT_TRUE(wave.ready());
  const Recording recording = sample(wave);
  EXPECT_LT(off(area(recording, "gpu_util") / 100, truth_of(wave.record()).total), 0.01);
}

TEST(Sampler, FindsAllBytes) {
  Wave wave([](WaveRecord& record) { network_wave({}, record); });
  if (!wave.ready()) GTEST_SKIP() << "network namespaces are not permitted here";
  const Recording recording = sample(wave, {.interfaces = {"lo"}});
  const double total = truth_of(wave.record()).total;
  EXPECT_LT(off(area(recording, "net_tx"), total), 0.01);
  EXPECT_LT(off(area(recording, "net_rx"), total), 0.01);
}

// Bursts of half a second: on a quiet machine everything within 2 %.
TEST(DISABLED_QuietMachine, CpuWaveIsRecovered) {
  Wave wave([](WaveRecord& record) { cpu_wave({20, 0.3, 0.2}, record); });
  ASSERT_TRUE(wave.ready());
  double cost = 0;
  const Recording recording = sample(wave, {}, &cost);
  expect_recovered(use_of(analyse(recording), "gpu_util").bursts, truth_of(wave.record()), 100);
  std::printf("  total CPU time off by %.3f %%\n",
              100 * off(area(recording, "gpu_util") / 100, truth_of(wave.record()).total));
  std::printf("  sampling takes %.2f %% of a core\n", 100 * cost);
  EXPECT_LT(cost, 0.02);
}

TEST(DISABLED_QuietMachine, NetworkWaveIsRecovered) {
  Wave wave([](WaveRecord& record) { network_wave({20, 0.3, 0.2}, record); });
  ASSERT_TRUE(wave.ready());
  double cost = 0;
  const Recording recording = sample(wave, {.interfaces = {"lo"}}, &cost);
  const Profile profile = analyse(recording);
  expect_recovered(use_of(profile, "net_tx").bursts, truth_of(wave.record()), 1);
  expect_recovered(use_of(profile, "net_rx").bursts, truth_of(wave.record()), 1);
  std::printf("  total bytes off by %.3f %%\n",
              100 * off(area(recording, "net_tx"), truth_of(wave.record()).total));
  std::printf("  sampling takes %.2f %% of a core\n", 100 * cost);
  EXPECT_LT(cost, 0.05);
}

TEST(Sampler, SeesChildrenAndThreadsButNotThoseThatMoveData) {
  Wave wave([](WaveRecord& record) {
    wait_for_go(record);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::thread counted([] { sleep_s(0.3); });
      std::thread moving([&record] {
        prctl(PR_SET_NAME, "gloo_loop");
        const double begin = clock_s(CLOCK_MONOTONIC);
        sleep_s(0.1);
        while (clock_s(CLOCK_MONOTONIC) < begin + 0.4) {
        }
        record.idle_amount = clock_s(CLOCK_THREAD_CPUTIME_ID);
      });
      counted.join();
      moving.join();
      record.state = 3;
      pause();
    }
    while (record.state != 3) sleep_s(0.01);
  });
  ASSERT_TRUE(wave.ready());
  const Recording recording = sample(wave);
  EXPECT_GT(wave.record().idle_amount, 0.01);
  EXPECT_LT(area(recording, "gpu_util") / 100, 0.2 * wave.record().idle_amount);
}

// A cgroup with this process in it, of version 1 or 2; empty where none may be made.
std::string make_cgroup(int process) {
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu"}) {
    std::string folder = root + ("/foretrain-test-" + std::to_string(process));
    std::error_code refused;
    if (!std::filesystem::exists(root + std::string("/cgroup.procs"))) continue;
    if (!std::filesystem::create_directory(folder, refused)) continue;
    std::ofstream members(folder + "/cgroup.procs");
    if (members << process << std::flush) return folder;
    members.close();
    std::filesystem::remove(folder, refused);
  }
  return "";
}

TEST(Sampler, FindsTheProcessesOfACgroup) {
  std::string folder;
  {
    Wave wave([](WaveRecord& record) { cpu_wave({.bursts = 2}, record); });
    ASSERT_TRUE(wave.ready());
    folder = make_cgroup(wave.process());
    if (folder.empty()) GTEST_SKIP() << "cgroups may not be made here";
    Sampler sampler(std::vector{Subject{.cgroup = folder, .cores = 1}});
    sampler.start();
    wave.go();
    wave.wait();
    sleep_s(0.05);
    const Recording recording = sampler.stop().at(0);
    EXPECT_LT(off(area(recording, "gpu_util") / 100, truth_of(wave.record()).total), 0.01);
  }
  std::error_code gone;
  std::filesystem::remove(folder, gone);
}

TEST(Sampler, RefusesWhatIsNotThere) {
  EXPECT_THROW(Sampler(std::vector{Subject{.processes = {4'194'304}}}),
               Error);  // above every pid_max
  EXPECT_THROW(Sampler(std::vector{Subject{.cgroup = "/proc"}}), Error);
  EXPECT_THROW(Sampler({}, {.interval = Seconds{0}}), Error);
}

TEST(Sampler, OutlivesItsSubject) {
  auto wave = std::make_unique<Wave>([](WaveRecord& record) { wait_for_go(record); });
  ASSERT_TRUE(wave->ready());
  Sampler sampler(std::vector{Subject{.processes = {wave->process()}}});
  sampler.start();
  sleep_s(0.05);
  wave.reset();
  sleep_s(0.05);
  const Recording recording = sampler.stop().at(0);
  EXPECT_GE(length_of(recording), 9U);
  EXPECT_EQ(find_column(recording, "memory_used")->samples.back(), 0);
}

}  // namespace
}  // namespace foretrain::profile

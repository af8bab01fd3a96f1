// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/nvml.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/machine.h"
#include "foretrain/profile/sampler.h"

namespace foretrain::profile {
namespace {

// A library with NVML's names: GPU 0 is at 10 %, GPU 1 at 90 % and 0 % in turns of 200 ms; samples
// every 20 ms; 1 of 16 GiB used; 150 W.
constexpr const char* kFakeLibrary = R"(
#include <time.h>
#include <stddef.h>
typedef unsigned long long u64;
struct Sample { u64 time_us; union { double d; unsigned u; u64 l; } value; };
struct Memory { u64 total, free, used; };
static u64 now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = (void*)(size_t)(index + 1);
  return 0;
}
int nvmlDeviceGetSamples(void* device, int type, u64 last, int* value_type, unsigned* count,
                         struct Sample* samples) {
  *value_type = 1;
  if (!samples) { *count = 100; return 0; }
  u64 end = now_us() / 20000;
  unsigned found = 0;
  for (u64 tick = end - 99; tick <= end && found < *count; ++tick) {
    if (tick * 20000 <= last) continue;
    samples[found].time_us = tick * 20000;
    unsigned busy = (tick - 1) / 10 % 2 ? 90 : 0;
    samples[found].value.u = type == 0 ? 150000 : device == (void*)1 ? 10 : type == 1 ? busy : busy / 2;
    ++found;
  }
  *count = found;
  return found ? 0 : 6;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  const char* text = device == (void*)1 ? "Tesla T4" : "NVIDIA A100-SXM4-80GB";
  unsigned i = 0;
  for (; text[i] && i + 1 < length; ++i) name[i] = text[i];
  name[i] = 0;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, struct Memory* memory) {
  memory->total = 16ull << 30;
  memory->used = 1ull << 30;
  memory->free = memory->total - memory->used;
  return 0;
}
)";

class FakeNvml : public testing::Test {
 protected:
  void SetUp() override {
    folder =
        std::filesystem::temp_directory_path() / ("foretrain-nvml-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "fake.c") << kFakeLibrary;
    library = (folder / "libfake.so").string();
    const std::string compile =
        "cc -shared -fPIC -o " + library + " " + (folder / "fake.c").string();
    if (std::system(compile.c_str()) != 0) GTEST_SKIP() << "no C compiler";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::string library;
};

TEST_F(FakeNvml, TellsNamesAndMemories) {
  const std::vector<GpuFacts> gpus = local_machine("/", library).gpus;
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "Tesla T4");
  EXPECT_EQ(gpus[1].name, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(gpus[1].memory_bytes, 16.0 * (1ULL << 30));
}

TEST(Nvml, IsAbsentWhereTheLibraryIs) {
  EXPECT_EQ(Nvml::open("libno-such-library.so.1", -1), nullptr);
  EXPECT_EQ(Nvml::open("libc.so.6", -1), nullptr);  // there, but not NVML
}

TEST_F(FakeNvml, RefusesAnIndexThatIsNotThere) {
  EXPECT_THROW(Nvml::open(library, 2), Error);
  EXPECT_NE(Nvml::open(library, 1), nullptr);
}

// Of GPU 1, the busier: bursts of 90 % and 200 ms.
TEST_F(FakeNvml, SamplesTheBusiestGpu) {
  Sampler sampler(std::vector{Subject{.processes = {getpid()}}}, {.nvml_library = library});
  sampler.start();
  usleep(2'100'000);
  const Recording recording = sampler.stop().at(0);
  ASSERT_NE(find_column(recording, "power"), nullptr);
  EXPECT_NEAR(find_column(recording, "power")->samples.at(50), 150, 1e-6);
  EXPECT_EQ(find_column(recording, "memory_used")->samples.at(50), 1LL << 30);
  EXPECT_NE(find_column(recording, "cpu_util"), nullptr);
  EXPECT_NE(find_column(recording, "host_memory_used"), nullptr);
  const Profile profile = analyse(recording);
  const auto use = std::find_if(profile.resources.begin(), profile.resources.end(),
                                [](const ResourceUse& one) { return one.name == "gpu_util"; });
  ASSERT_NE(use, profile.resources.end());
  ASSERT_EQ(use->bursts.pattern, resource::Pattern::BIB);
  EXPECT_NEAR(use->bursts.burst_amount.value(), 90, 5);  // edges of windows and samples differ
  EXPECT_NEAR(use->bursts.burst.value().count(), 0.2, 0.011);
  EXPECT_NEAR(use->bursts.idle.value().count(), 0.2, 0.011);
}

TEST_F(FakeNvml, SamplesTheOneThatIsAskedFor) {
  Sampler sampler(std::vector{Subject{.processes = {getpid()}}},
                  {.gpu_index = 0, .nvml_library = library});
  sampler.start();
  usleep(300'000);
  const Recording recording = sampler.stop().at(0);
  EXPECT_NEAR(find_column(recording, "gpu_util")->samples.at(10), 10, 1e-6);
}

}  // namespace
}  // namespace foretrain::profile

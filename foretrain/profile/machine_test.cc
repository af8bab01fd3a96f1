// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace foretrain::profile {
namespace {

namespace fs = std::filesystem;

class FakeRoot : public testing::Test {
 protected:
  void SetUp() override {
    root = fs::temp_directory_path() / ("foretrain-machine-" + std::to_string(getpid()));
    fs::create_directories(root / "proc");
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  Machine machine() const { return local_machine(root.string(), "libnone.so"); }

  fs::path root;
};

// Two sockets with one core each, which runs two threads.
TEST_F(FakeRoot, CountsSocketsCoresAndThreads) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "processor\t: " + std::to_string(i) +
            "\nmodel name\t: Xeon  7\nphysical id\t: " + std::to_string(i % 2) +
            "\ncore id\t\t: 0\n\n";
  }
  write("proc/cpuinfo", text);
  write("proc/meminfo", "MemTotal:        2048 kB\nMemFree:  7 kB\n");
  const Machine found = machine();
  EXPECT_EQ(found.cpu, "Xeon  7");
  EXPECT_EQ(found.threads, 4);
  EXPECT_EQ(found.cores, 2);
  EXPECT_EQ(found.sockets, 2);
  EXPECT_EQ(found.memory_bytes, 2048 * 1024);
  EXPECT_TRUE(found.gpus.empty());
}

TEST_F(FakeRoot, WithoutCoreNumbersThreadsCount) {
  write("proc/cpuinfo", "processor : 0\nprocessor : 1\n");
  EXPECT_EQ(machine().cores, 2);
  EXPECT_EQ(machine().sockets, 1);
}

// 10,000 Mbit/s are 1.25e9 bytes per second.
TEST_F(FakeRoot, ListsNetworkCards) {
  write("sys/class/net/eth1/speed", "10000\n");
  write("sys/class/net/eth1/operstate", "up\n");
  write("sys/class/net/eth1/device/vendor", "0x15b3\n");
  write("sys/class/net/br0/speed", "-1\n");
  write("sys/class/net/br0/operstate", "down\n");
  write("sys/class/net/lo/operstate", "unknown\n");
  const std::vector<NicFacts> nics = machine().nics;
  ASSERT_EQ(nics.size(), 2U);
  EXPECT_EQ(nics[0].name, "br0");
  EXPECT_FALSE(nics[0].up);
  EXPECT_FALSE(nics[0].physical);
  EXPECT_FALSE(nics[0].bytes_per_s.has_value());
  EXPECT_EQ(nics[1].bytes_per_s, 1.25e9);
  EXPECT_TRUE(nics[1].up);
  EXPECT_TRUE(nics[1].physical);
}

TEST_F(FakeRoot, KnowsNothingOfAnEmptyMachine) {
  EXPECT_EQ(machine().threads, 0);
  EXPECT_TRUE(machine().nics.empty());
}

}  // namespace
}  // namespace foretrain::profile

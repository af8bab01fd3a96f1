// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/hosts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/lab/cgroups.h"
#include "foretrain/lab/detail/command.h"

namespace foretrain::lab {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

bool ours(const std::string& folder) { return folder.ends_with("-" + std::to_string(getpid())); }

std::ptrdiff_t own_groups() {
  const std::vector<std::string> all = lab_cgroups();
  return std::count_if(all.begin(), all.end(), ours);
}

// Half of a core is 5 ms in every 10 ms.
TEST(Cgroups, LimitPinAndVanish) {
  {
    Cgroups groups;
    if (!groups.limits() || !groups.pins()) GTEST_SKIP() << "no control groups may be made here";
    const std::vector<std::string> files = groups.add("host0");
    ASSERT_FALSE(files.empty());
    groups.set("host0", {0}, 0.5);
    const std::string folder = std::filesystem::path(files.front()).parent_path();
    const bool unified = std::filesystem::exists(folder + "/cpu.max");
    EXPECT_EQ(first_line(folder + (unified ? "/cpu.max" : "/cpu.cfs_quota_us")),
              unified ? "5000 10000" : "5000");
    const std::string pinned = std::filesystem::path(files.back()).parent_path();
    EXPECT_EQ(first_line(pinned + "/cpuset.cpus"), "0");
    groups.set("host0", {0}, 0);
    EXPECT_EQ(first_line(folder + (unified ? "/cpu.max" : "/cpu.cfs_quota_us")),
              unified ? "max 10000" : "-1");
    EXPECT_GT(own_groups(), 0);
  }
  EXPECT_EQ(own_groups(), 0);
}

TEST(Hosts, ArePlainProcessesWithoutNamespaces) {
  Hosts hosts(2, false);
  EXPECT_EQ(hosts.count(), 2);
  EXPECT_EQ(hosts[1].address, "127.0.0.1");
  EXPECT_TRUE(hosts[1].prefix.empty());
  EXPECT_NO_THROW(hosts.allot(0, {.cpus = {0}}));
  try {
    hosts.allot(0, {.bytes_per_s = 1e6});
    FAIL() << "a link was shaped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  }
}

TEST(Hosts, ThatAreRemoteAreUsedAsTheyAre) {
  Hosts hosts({{{"ssh", "node1"}, "10.0.0.1", "eth0"}});
  EXPECT_EQ(hosts[0].prefix, (std::vector<std::string>{"ssh", "node1"}));
  EXPECT_FALSE(hosts[0].local);
  EXPECT_NO_THROW(hosts.allot(0, {}));
  EXPECT_THROW(hosts.allot(0, {.cores = 0.5}), Error);
}

}  // namespace
}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/cgroups.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"

namespace foretrain::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoot = "/sys/fs/cgroup";
constexpr const char* kPrefix = "foretrain-lab-";
constexpr int kPeriodMicroseconds = 10'000;

bool write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  return static_cast<bool>(stream.flush());
}

std::string read_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  std::getline(stream, word);
  return word;
}

bool is_unified() { return fs::exists(fs::path(kRoot) / "cgroup.controllers"); }

// Folders in which groups are made.
std::vector<fs::path> roots() {
  if (is_unified()) return {kRoot};
  return {fs::path(kRoot) / "cpu", fs::path(kRoot) / "cpuset"};
}

// Makes the lab's folder; "" where that is not permitted.
std::string make_parent(const fs::path& root) {
  std::error_code error;
  if (!fs::exists(root / "cgroup.procs", error)) return "";
  const fs::path folder = root / (kPrefix + std::to_string(getpid()));
  fs::create_directory(folder, error);
  return error ? "" : folder.string();
}

// A group of version 1 has no CPUs until it is told.
void copy_cpus(const fs::path& folder) {
  for (const char* file : {"cpuset.mems", "cpuset.cpus"}) {
    write_text(folder / file, read_word(folder.parent_path() / file));
  }
}

std::string list(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

}  // namespace

Cgroups::Cgroups() : unified_(is_unified()) {
  std::error_code error;
  if (unified_) {
    write_text(fs::path(kRoot) / "cgroup.subtree_control", "+cpu +cpuset");
    const std::string folder = make_parent(kRoot);
    if (folder.empty()) return;
    made_.push_back(folder);
    write_text(fs::path(folder) / "cgroup.subtree_control", "+cpu +cpuset");
    if (write_text(fs::path(folder) / "cpu.weight", "10000")) cpu_ = folder;
    if (fs::exists(fs::path(folder) / "cpuset.cpus", error)) cpuset_ = folder;
    return;
  }
  cpu_ = make_parent(fs::path(kRoot) / "cpu");
  if (!cpu_.empty()) write_text(fs::path(cpu_) / "cpu.shares", "262144");
  cpuset_ = make_parent(fs::path(kRoot) / "cpuset");
  if (!cpuset_.empty()) copy_cpus(cpuset_);
  for (const std::string& folder : {cpu_, cpuset_}) {
    if (!folder.empty()) made_.push_back(folder);
  }
}

Cgroups::~Cgroups() {
  std::reverse(made_.begin(), made_.end());
  // A group is busy for a moment after its last process has ended.
  for (int attempt = 0; attempt < 50 && !made_.empty(); ++attempt) {
    std::error_code error;
    std::erase_if(made_, [&](const std::string& folder) { return fs::remove(folder, error); });
    if (!made_.empty()) usleep(20'000);
  }
}

std::vector<std::string> Cgroups::add(const std::string& host) {
  std::vector<std::string> files;
  for (const std::string& parent : {cpu_, cpuset_}) {
    if (parent.empty()) continue;
    const fs::path folder = fs::path(parent) / host;
    const std::string file = folder / "cgroup.procs";
    if (std::find(files.begin(), files.end(), file) != files.end()) continue;  // unified
    std::error_code error;
    if (fs::create_directory(folder, error)) made_.push_back(folder);
    if (error) throw Error(ErrorKind::Io, "cannot make the control group " + folder.string());
    files.push_back(file);
  }
  if (!cpuset_.empty() && !unified_) copy_cpus(fs::path(cpuset_) / host);
  return files;
}

void Cgroups::set(const std::string& host, const std::vector<int>& cpus, double cores) {
  if (pins() && !cpus.empty()) {
    const fs::path file = fs::path(cpuset_) / host / "cpuset.cpus";
    if (!write_text(file, list(cpus))) throw Error(ErrorKind::Io, "cannot write " + file.string());
  }
  if (cores > 0 && !limits()) {
    throw Error(
        ErrorKind::Unsupported,
        "a share of a core needs control groups, which may not be made here; run as root, or "
        "use settings with whole cores");
  }
  if (!limits()) return;
  const fs::path folder = fs::path(cpu_) / host;
  const std::string quota = cores > 0  ? std::to_string(std::lround(cores * kPeriodMicroseconds))
                            : unified_ ? "max"
                                       : "-1";
  const std::string period = std::to_string(kPeriodMicroseconds);
  const bool written = unified_ ? write_text(folder / "cpu.max", quota + " " + period)
                                : write_text(folder / "cpu.cfs_period_us", period) &&
                                      write_text(folder / "cpu.cfs_quota_us", quota);
  if (!written) throw Error(ErrorKind::Io, "cannot limit the control group " + folder.string());
}

bool may_limit() {
  const fs::path root = roots().front();
  if (access(root.c_str(), W_OK) != 0 || access((root / "cgroup.procs").c_str(), F_OK) != 0) {
    return false;
  }
  const std::string controllers = " " + read_word(root / "cgroup.controllers") + " ";
  return !is_unified() || controllers.find(" cpu ") != std::string::npos;
}

std::vector<std::string> lab_cgroups() {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::path& root : roots()) {
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
      if (entry.path().filename().string().starts_with(kPrefix)) found.push_back(entry.path());
    }
  }
  return found;
}

void sweep_cgroups() {
  std::error_code error;
  for (const std::string& folder : lab_cgroups()) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.is_directory(error)) fs::remove(entry.path(), error);
    }
    fs::remove(folder, error);
  }
}

}  // namespace foretrain::lab

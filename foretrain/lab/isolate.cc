// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/isolate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/lab/cgroups.h"
#include "foretrain/lab/detail/command.h"

namespace foretrain::lab {
namespace {

constexpr const char* kMark = "FORETRAIN_LAB_ISOLATED";

const std::vector<std::string> kUnshare{"unshare", "--mount",      "--net",       "--pid",
                                        "--fork",  "--kill-child", "--mount-proc"};

// The names of network namespaces are files: on a file system that goes with the mounts.
void hide_names() {
  std::error_code error;
  std::filesystem::create_directories("/run/netns", error);
  must_run({"mount", "-t", "tmpfs", "foretrain", "/run/netns"});
}

// Those that this process was started with.
std::vector<std::string> own_arguments() {
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, '\0');) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

}  // namespace

bool may_isolate() {
  if (geteuid() != 0) return false;
  std::vector<std::string> words = kUnshare;
  words.insert(words.end(), {"ip", "link", "add", "ftprobe", "type", "bridge"});
  return run_command(words).code == 0;
}

bool isolate() {
  if (const char* mark = std::getenv(kMark); mark != nullptr && std::string(mark) == "1") {
    hide_names();
    return true;
  }
  if (!may_isolate()) return false;
  std::vector<std::string> words = kUnshare;
  words.push_back(std::filesystem::read_symlink("/proc/self/exe"));
  for (const std::string& word : own_arguments()) words.push_back(word);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  setenv(kMark, "1", 1);
  execvp(pointers.front(), pointers.data());
  unsetenv(kMark);
  return false;
}

namespace {

constexpr int kUnreadable = -1;

// A file to lock, which needs no right to write; absent where it can be neither found nor made. It
// is opened without O_CREAT first: in a folder for everybody that is refused for others' files.
std::optional<int> open_to_lock(const std::string& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0) return file;
    if (errno != ENOENT && errno != ENOTDIR) return kUnreadable;
    file = open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) {
      fchmod(file, 0644);  // whatever the mask is
      return file;
    }
    if (errno != EEXIST) return std::nullopt;  // else another has just made it
  }
  return std::nullopt;
}

}  // namespace

Lock::Lock(const std::vector<std::string>& files) {
  const auto give_up = [this](const std::string& message) {
    for (const int file : held_) close(file);
    throw Error(ErrorKind::Io, message);
  };
  for (const std::string& path : files) {
    const std::optional<int> file = open_to_lock(path);
    if (!file) continue;
    if (*file == kUnreadable) give_up("the lab's lock " + path + " is there and cannot be read");
    held_.push_back(*file);
    if (flock(*file, LOCK_EX | LOCK_NB) != 0) {
      give_up(
          "another lab runs on this machine; wait for its end, for two would measure each other");
    }
  }
  if (held_.empty()) give_up("cannot make the lab's lock in /run/lock or /tmp");
}

Lock::~Lock() {
  for (const int file : held_) close(file);
}

void run_alone(const std::function<void()>& work) {
  std::signal(SIGPIPE, SIG_IGN);  // a worker that ends is an error of ours, not our end
  const Lock lock;
  sweep_cgroups();
  work();
}

}  // namespace foretrain::lab

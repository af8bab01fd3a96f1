// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/isolate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/lab/command.h"

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

bool is_permitted() {
  if (geteuid() != 0) return false;
  std::vector<std::string> words = kUnshare;
  words.insert(words.end(), {"ip", "link", "add", "ftprobe", "type", "bridge"});
  return run_command(words).code == 0;
}

}  // namespace

bool isolate() {
  if (const char* mark = std::getenv(kMark); mark != nullptr && std::string(mark) == "1") {
    hide_names();
    return true;
  }
  if (!is_permitted()) return false;
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

Lock::Lock() {
  for (const char* path : {"/run/lock/foretrain-lab.lock", "/tmp/foretrain-lab.lock"}) {
    file_ = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ >= 0) break;
  }
  if (file_ < 0) throw Error(ErrorKind::Io, "cannot make the lab's lock in /run/lock or /tmp");
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    close(file_);
    throw Error(ErrorKind::Io,
                "another lab runs on this machine; wait for its end, for two would measure each "
                "other");
  }
}

Lock::~Lock() { close(file_); }

}  // namespace foretrain::lab

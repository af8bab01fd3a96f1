// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

namespace fs = std::filesystem;

// The one that a user means by `out/`, `out/.` and a link to it.
fs::path whole_name(const fs::path& folder) {
  std::error_code error;
  fs::path name = fs::weakly_canonical(folder, error);
  if (error) name = fs::absolute(folder, error);
  return name.has_filename() ? name : name.parent_path();
}

}  // namespace

OutputFolder::OutputFolder(fs::path folder, std::vector<std::string> own)
    : folder_(whole_name(folder)), own_(std::move(own)) {
  std::error_code error;
  if (fs::exists(folder_, error) && !fs::is_directory(folder_, error)) fail(ENOTDIR);
  fs::create_directories(folder_.parent_path(), error);
  replaces_ = may_be_replaced();
  partial_ = replaces_ ? folder_.parent_path() / ("." + folder_.filename().string() + ".partial")
                       : folder_ / ".partial";
  if (::mkdir(partial_.c_str(), 0777) != 0 && errno != EEXIST) fail(errno);
  lock_ = ::open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_ < 0) fail(errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw Error(ErrorKind::Io, "cannot write '" + printable(folder_.string(), 200) +
                                   "': another program is writing it; wait until it is done");
  }
  empty_partial();  // what one that was killed has left
  struct stat earlier {};
  if (replaces_ && ::stat(folder_.c_str(), &earlier) == 0) {
    ::fchmod(lock_, earlier.st_mode & 07777);
  }
}

OutputFolder::~OutputFolder() {
  if (lock_ < 0) return;
  remove_partial();
  ::close(lock_);
}

bool OutputFolder::may_be_replaced() const {
  std::error_code error;
  if (!fs::exists(folder_, error)) return true;
  const fs::path parent = folder_.parent_path();
  struct stat inner {};
  struct stat outer {};
  if (::stat(folder_.c_str(), &inner) != 0 || ::stat(parent.c_str(), &outer) != 0) return false;
  if (inner.st_dev != outer.st_dev || ::access(parent.c_str(), W_OK) != 0) return false;
  if (fs::current_path(error).string().starts_with(folder_.string())) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::find(own_.begin(), own_.end(), name) != own_.end();
    if (!ours || entry.is_symlink(error) || !entry.is_regular_file(error)) return false;
  }
  return !error;
}

void OutputFolder::commit() {
  if (::fsync(lock_) != 0 && errno != EINVAL) fail(errno);
  std::error_code error;
  if (!replaces_) {
    rename_files();
  } else if (!fs::exists(folder_, error)) {
    if (::rename(partial_.c_str(), folder_.c_str()) != 0) fail(errno);
  } else if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, folder_.c_str(), RENAME_EXCHANGE) !=
             0) {
    rename_files();  // this file system cannot exchange two names
  }
  remove_partial();
  ::close(std::exchange(lock_, -1));
}

void OutputFolder::rename_files() {
  std::error_code error;
  std::vector<std::string> gone;
  for (const std::string& name : own_) {
    if (!fs::exists(partial_ / name, error)) {
      gone.push_back(name);
      continue;
    }
    fs::rename(partial_ / name, folder_ / name, error);
    if (error) fail(error.value());
  }
  for (const std::string& name : gone) fs::remove(folder_ / name, error);
}

void OutputFolder::empty_partial() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(partial_, error)) {
    ::unlink(entry.path().c_str());
  }
}

// After an exchange this is the earlier folder.
void OutputFolder::remove_partial() {
  empty_partial();
  ::rmdir(partial_.c_str());
}

void OutputFolder::fail(int code) const {
  throw Error(ErrorKind::Io,
              "cannot write '" + printable(folder_.string(), 200) + "': " + std::strerror(code));
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 16;
constexpr int kMostLinks = 40;             // as the kernel follows
constexpr std::size_t kLongestName = 200;  // of 255, so that there is room for more
constexpr mode_t kReadAndWrite = 0666;     // less what the umask takes

fs::path follow_links(fs::path file) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(file, error); ++i) {
    const fs::path next = fs::read_symlink(file, error);
    file = next.is_absolute() ? next : file.parent_path() / next;
  }
  return file;
}

// What must be written as it stands: a pipe, a device, or a name of an open file.
bool is_written_in_place(const fs::path& name, const fs::path& target) {
  const std::string text = name.string();
  for (const char* open_file : {"/dev/fd/", "/dev/std", "/proc/"}) {
    if (text.starts_with(open_file)) return true;
  }
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  return fs::exists(status) && !fs::is_regular_file(status);
}

bool is_same_file(int handle, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(handle, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// A name is on disk once its folder is. Not every file system can be asked; then it does so itself.
void sync_folder(const fs::path& folder) {
  const int handle = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

}  // namespace

OutputFile::OutputFile(const fs::path& file) : name_(file), target_(follow_links(file)) {
  if (is_written_in_place(name_, target_)) {
    handle_ = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (handle_ < 0) fail(errno);
    return;
  }
  struct stat earlier {};
  const bool exists = ::stat(target_.c_str(), &earlier) == 0;
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  const std::string name = target_.filename().string();
  if (name.empty()) fail(EISDIR);
  partial_ = target_.parent_path() / ("." + name.substr(0, kLongestName) + ".partial");
  open_partial();
  if (exists) ::fchmod(handle_, earlier.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (handle_ < 0) return;
  if (!partial_.empty() && is_same_file(handle_, partial_)) ::unlink(partial_.c_str());
  ::close(handle_);
}

// The lock is that of the file, which another program may have renamed or removed before it is
// ours.
void OutputFile::open_partial() {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  for (;;) {
    handle_ = ::open(partial_.c_str(), kFlags, kReadAndWrite);
    if (handle_ < 0) fail(errno);
    if (::flock(handle_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(handle_);
      handle_ = -1;
      throw Error(ErrorKind::Io, "cannot write '" + printable(name_.string(), 200) +
                                     "': another program is writing it; wait until it is done");
    }
    if (is_same_file(handle_, partial_)) break;
    ::close(handle_);
  }
  if (::ftruncate(handle_, 0) != 0) fail(errno);
}

void OutputFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  std::string_view text = buffer_;
  while (!text.empty()) {
    const ssize_t count = ::write(handle_, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  buffer_.clear();
}

void OutputFile::commit() { finish(0); }

void OutputFile::commit_new() { finish(RENAME_NOREPLACE); }

void OutputFile::finish(unsigned flags) {
  if (handle_ < 0) return;
  flush();
  if (!partial_.empty()) {
    if (::fsync(handle_) != 0) fail(errno);
    int done = ::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, target_.c_str(), flags);
    if (done != 0 && flags != 0 && errno == EINVAL) {  // a file system that knows no flags
      if (::access(target_.c_str(), F_OK) == 0) fail(EEXIST);
      done = ::rename(partial_.c_str(), target_.c_str());
    }
    if (done != 0) fail(errno);
    sync_folder(target_.parent_path());
  }
  const int handle = handle_;
  handle_ = -1;
  if (::close(handle) != 0) fail(errno);
}

void OutputFile::fail(int code) const {
  throw Error(ErrorKind::Io,
              "cannot write '" + printable(name_.string(), 200) + "': " + std::strerror(code));
}

}  // namespace foretrain

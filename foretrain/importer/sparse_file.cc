// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/detail/sparse_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"

namespace foretrain::importer {
namespace {

constexpr std::size_t kChunk = 1 << 16;  // bytes, a multiple of every page's size

}  // namespace

SparseFile::SparseFile(const std::filesystem::path& file) : file_(file) {
  // Not to block: a pipe that nobody writes to is to be refused, not waited for.
  handle_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle_ < 0) {
    throw Error(ErrorKind::Io, named(file) +
                                   ": cannot be opened; check that it is there and that "
                                   "you may read it");
  }
  struct stat status {};
  const bool regular = ::fstat(handle_, &status) == 0 && S_ISREG(status.st_mode);
  size_ = regular ? static_cast<std::size_t>(status.st_size) : 0;
  // Addresses alone; memory comes with what is read.
  void* place = size_ == 0 ? MAP_FAILED
                           : ::mmap(nullptr, size_, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    ::close(handle_);
    if (!regular) throw Error(ErrorKind::BadInput, named(file) + ": is not a regular file");
    if (size_ == 0) throw Error(ErrorKind::BadInput, named(file) + ": is empty");
    throw Error(ErrorKind::Io, named(file) + ": cannot be read: there is no room for it");
  }
  begin_ = static_cast<char*>(place);
  loaded_.resize((size_ + kChunk - 1) / kChunk);
}

SparseFile::~SparseFile() {
  ::munmap(begin_, size_);
  ::close(handle_);
}

void SparseFile::load(std::string_view part) {
  if (part.empty()) return;
  const auto first = static_cast<std::size_t>(part.data() - begin_);
  for (std::size_t chunk = first / kChunk; chunk <= (first + part.size() - 1) / kChunk; ++chunk) {
    if (!loaded_[chunk]) read_chunk(chunk);
  }
}

void SparseFile::read_chunk(std::size_t chunk) {
  const std::size_t start = chunk * kChunk;
  const std::size_t length = std::min(kChunk, size_ - start);
  if (::mprotect(begin_ + start, length, PROT_READ | PROT_WRITE) != 0) {
    throw Error(ErrorKind::Io, named(file_) + ": cannot be read: not enough memory");
  }
  for (std::size_t done = 0; done < length;) {
    const ssize_t count =
        ::pread(handle_, begin_ + start + done, length - done, static_cast<off_t>(start + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw Error(ErrorKind::Io, named(file_) +
                                     ": cannot be read to its end; does another program "
                                     "write it?");
    }
    done += static_cast<std::size_t>(count);
  }
  loaded_[chunk] = true;
}

}  // namespace foretrain::importer

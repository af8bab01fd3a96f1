// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/detail/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"

namespace foretrain::importer {

MappedFile::MappedFile(const std::filesystem::path& file) : begin_(MAP_FAILED) {
  // Not to block: a pipe that nobody writes to is to be refused, not waited for.
  const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle < 0) {
    throw Error(ErrorKind::Io, named(file) +
                                   ": cannot be opened; check that it is there and that "
                                   "you may read it");
  }
  struct stat status {};
  const bool regular = ::fstat(handle, &status) == 0 && S_ISREG(status.st_mode);
  size_ = regular ? static_cast<std::size_t>(status.st_size) : 0;
  if (size_ > 0) begin_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, handle, 0);
  ::close(handle);
  if (!regular) throw Error(ErrorKind::BadInput, named(file) + ": is not a regular file");
  if (size_ == 0) throw Error(ErrorKind::BadInput, named(file) + ": is empty");
  if (begin_ == MAP_FAILED) throw Error(ErrorKind::Io, named(file) + ": cannot be read");
  ::madvise(begin_, size_, MADV_RANDOM);  // skipping must not read ahead
}

MappedFile::~MappedFile() { ::munmap(begin_, size_); }

}  // namespace foretrain::importer

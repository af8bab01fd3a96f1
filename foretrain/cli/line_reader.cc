// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::cli {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;
constexpr std::size_t kMostLineBytes = 16 * kLongestLine;

std::string shown(const std::string& path) {
  return path == "-" ? "standard input" : "'" + printable(path, 200) + "'";
}

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorKind::Io, "cannot read " + shown(path) + ": " + std::strerror(errno));
}

}  // namespace

LineReader::LineReader(const std::string& path) : path_(path), buffer_(kBufferBytes) {
  file_ = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail(path);
  struct stat status {};
  if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
    total_bytes_ = static_cast<double>(status.st_size);
  }
}

LineReader::~LineReader() { close(file_); }

void LineReader::append(const char* text, std::size_t size) {
  const std::size_t room = kLongestLine + 1 - std::min(rest_.size(), kLongestLine + 1);
  rest_.append(text, std::min(size, room));
  line_bytes_ += size;
  if (line_bytes_ <= kMostLineBytes) return;
  throw Error(ErrorKind::BadInput, shown(path_) + ": a line of more than " +
                                       std::to_string(kMostLineBytes >> 20) +
                                       " MiB; requests are JSON objects, one on each line");
}

bool LineReader::read(std::vector<std::string>& lines) {
  lines.clear();
  ssize_t count = -1;
  do {
    count = ::read(file_, buffer_.data(), buffer_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) fail(path_);
  if (count == 0) {
    if (rest_.empty()) return false;
    lines.push_back(std::move(rest_));
    rest_.clear();
    return true;
  }
  read_bytes_ += static_cast<double>(count);
  const char* at = buffer_.data();
  const char* end = at + count;
  while (at < end) {
    const char* stop = std::find(at, end, '\n');
    append(at, static_cast<std::size_t>(stop - at));
    if (stop == end) break;
    if (rest_.ends_with('\r')) rest_.pop_back();
    lines.push_back(std::move(rest_));
    rest_.clear();
    line_bytes_ = 0;
    at = stop + 1;
  }
  return true;
}

std::optional<double> LineReader::share() const {
  if (total_bytes_ <= 0) return std::nullopt;
  return read_bytes_ / total_bytes_;
}

}  // namespace foretrain::cli

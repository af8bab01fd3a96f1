// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/proc_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

namespace foretrain::profile {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

ProcFile::ProcFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ProcFile::~ProcFile() {
  if (file_ >= 0) close(file_);
}

ProcFile::ProcFile(ProcFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

ProcFile& ProcFile::operator=(ProcFile&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

std::string_view ProcFile::read(std::vector<char>& buffer) const {
  if (file_ < 0) return {};
  if (buffer.size() < kBufferBytes) buffer.resize(kBufferBytes);
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got =
        pread(file_, buffer.data() + filled, buffer.size() - filled, static_cast<off_t>(filled));
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
    if (got < 1024) break;  // short files come in one piece
  }
  return {buffer.data(), filled};
}

std::string read_small(const std::string& path) {
  std::vector<char> buffer;
  return std::string(ProcFile(path).read(buffer));
}

std::vector<int> numbered_entries(const std::string& folder) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, CloseFolder> entries(opendir(folder.c_str()));
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

double take_number(std::string_view& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  text.remove_prefix(first == std::string_view::npos ? text.size() : first);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return static_cast<double>(number);
}

}  // namespace foretrain::profile

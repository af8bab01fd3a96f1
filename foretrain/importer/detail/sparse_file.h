// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace foretrain::importer {

// A file's bytes, of which only those that were asked for are read, into memory of our own: what
// another program does to the file meanwhile shows as an Error, never as a signal. Throws Error
// naming the file:
//   Io        it cannot be opened or read, or has become shorter
//   BadInput  it is empty or no regular file
class SparseFile {
 public:
  explicit SparseFile(const std::filesystem::path& file);
  ~SparseFile();
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;

  // Where the bytes are once `load` has read them; others must not be touched.
  std::string_view content() const { return {begin_, size_}; }
  bool holds(std::string_view part) const {
    return part.data() >= begin_ && part.data() < begin_ + size_;
  }
  void load(std::string_view part);  // of `content`

 private:
  void read_chunk(std::size_t chunk);

  std::filesystem::path file_;
  int handle_ = -1;
  char* begin_ = nullptr;
  std::size_t size_ = 0;
  std::vector<bool> loaded_;  // by chunk
};

}  // namespace foretrain::importer

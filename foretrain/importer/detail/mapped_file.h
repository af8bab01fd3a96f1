// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace foretrain::importer {

// A file's bytes, of which only those that are looked at are read. Throws Error naming the file:
//   Io        it cannot be opened or read
//   BadInput  it is empty or no regular file
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view content() const { return {static_cast<const char*>(begin_), size_}; }

 private:
  void* begin_;
  std::size_t size_ = 0;
};

}  // namespace foretrain::importer

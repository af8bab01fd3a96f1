// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain::profile {

// A file of /proc that is read again and again. Kept open, it goes on meaning the same process or
// thread even where its number is given to another one.
class ProcFile {
 public:
  ProcFile() = default;
  explicit ProcFile(const std::string& path);
  ~ProcFile();
  ProcFile(ProcFile&& other) noexcept;
  ProcFile& operator=(ProcFile&& other) noexcept;

  bool is_open() const { return file_ >= 0; }

  // What it says now, in `buffer`; empty where the process is gone. At most 64 KiB.
  std::string_view read(std::vector<char>& buffer) const;

 private:
  int file_ = -1;
};

// The whole of a small file; "" where it cannot be read.
std::string read_small(const std::string& path);

// The numbers that name entries of a folder such as /proc/7/task; unsorted.
std::vector<int> numbered_entries(const std::string& folder);

// Reads an unsigned number at the front of `text` and removes it with the blanks before it; 0
// where there is none.
double take_number(std::string_view& text);

}  // namespace foretrain::profile

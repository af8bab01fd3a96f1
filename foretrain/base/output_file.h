// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace foretrain {

// A file being written. Its text goes into `.NAME.partial` beside it, which `commit` brings to disk
// and renames: at every moment there is the earlier file or the new one, whole. Who is killed
// leaves the partial file behind; the next who writes uses it. A link is followed, and what is no
// regular file (a pipe, /dev/stdout) is written as it stands.
//
// Each call throws Error(Io) naming the file: it cannot be written, the disk is full, another
// program writes it at this moment.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file);  // opened at once
  ~OutputFile();                                           // without `commit` what was there stays
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);  // what is wrong may show only in `commit`
  void commit();
  void commit_new();  // the same, and an Error where the file has come to be meanwhile

  // Where it is written until then, for those who write it by other means.
  const std::filesystem::path& partial() const { return partial_; }

 private:
  void open_partial();
  void flush();
  void finish(unsigned flags);
  [[noreturn]] void fail(int code) const;

  std::filesystem::path name_;     // as it was given
  std::filesystem::path target_;   // what links lead to
  std::filesystem::path partial_;  // empty for what is no regular file
  std::string buffer_;             // not handed to the system yet: lines are short
  int handle_ = -1;
};

}  // namespace foretrain

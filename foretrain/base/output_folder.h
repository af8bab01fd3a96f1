// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

// Files of one folder that appear together. They are written into a folder `.NAME.partial` beside
// it, and `commit` puts that in its place: at every moment the earlier files are there or the new
// ones. Only where the folder holds more than the files named `own`, or is the current one or the
// root of a file system, it must stay: then the files, all of them whole and on disk, are renamed
// into it one after the other.
//
// Each call throws Error(Io) as OutputFile does.
class OutputFolder {
 public:
  OutputFolder(std::filesystem::path folder, std::vector<std::string> own);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Where a file of that name, one of `own`, is to be written.
  std::filesystem::path place(const std::string& name) const { return partial_ / name; }

  // Files of `own` that were not written are gone afterwards.
  void commit();

 private:
  bool may_be_replaced() const;
  void rename_files();
  void empty_partial();
  void remove_partial();
  [[noreturn]] void fail(int code) const;

  std::filesystem::path folder_;
  std::vector<std::string> own_;
  std::filesystem::path partial_;
  bool replaces_ = false;
  int lock_ = -1;
};

}  // namespace foretrain

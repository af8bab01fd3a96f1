// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "foretrain/base/output_file.h"
#include "foretrain/cli/console.h"

namespace foretrain::cli {

// Where a command writes what it was asked for: nowhere where `path` is "", standard output where
// it is "-", else a file. The file is opened at once, so that a wrong name is told before the work
// begins; what it held stays until `close`, and stays where that is never called.
class Output {
 public:
  Output(std::string path, Console& console);  // each throws Error(Io)
  bool wanted() const { return !path_.empty(); }
  void write(std::string_view text);
  void close();  // now it is on disk

 private:
  std::string path_;
  Console& console_;
  std::unique_ptr<OutputFile> file_;
};

// Throws Error(BadInput) where what is read and what is to be written are one file; "" and "-" are
// none.
void refuse_same_file(const std::string& command, const std::string& input_option,
                      const std::string& input, const std::string& output_option,
                      const std::string& output);

// A text file, or standard output where `path` is "-". Throws Error(Io).
void write_file(const std::string& path, std::string_view text, Console& console);

}  // namespace foretrain::cli

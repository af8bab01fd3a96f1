// SPDX-License-Identifier: Apache-2.0
// For tests: runs the program that the build made and looks at what it says.
#pragma once

#include <string>
#include <vector>

namespace foretrain::cli {

struct Outcome {
  int code = -1;  // exit code; -1 where a signal ended it
  std::string out;
  std::string err;
};

// Runs the program with `input` as its standard input; `environment` are variables of the
// environment ("A=b"), in which locale, colours and terminal are not set otherwise.
Outcome run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                    const std::vector<std::string>& environment = {});

// The same with a terminal of `columns` columns as input, output and errors.
Outcome run_on_terminal(const std::vector<std::string>& arguments, int columns,
                        const std::vector<std::string>& environment);

// For a child that has arranged its own files: becomes the program and never returns.
[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment = {});

// The exit code of a child process; -1 where a signal ended it.
int wait_for(int child);

std::string read_text(const std::string& path);

// A file that is gone when the test ends.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::lab {

class Interrupt;

enum class Errors { Inherit, WithOutput, ToFile };

struct ChildOptions {
  std::vector<std::string> words{};        // the program and its arguments
  std::vector<std::string> environment{};  // "A=b", besides our own
  std::vector<std::string> cgroups{};      // files to which it writes its own number first
  std::vector<int> cpus{};                 // that it may use; empty: all
  Errors errors = Errors::Inherit;
  std::string error_file{};              // for ToFile; appended
  const Interrupt* interrupt = nullptr;  // ends waiting for its lines
};

// A process with pipes to its standard input and output, in a session of its own. It is killed when
// this object goes, and by the system when this process ends in whatever way.
class Child {
 public:
  explicit Child(const ChildOptions& options);  // throws Error(Io)
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int pid() const { return pid_; }

  // Throws Error(Io) where the process has closed its input.
  void write_line(std::string_view text);
  void close_input();

  // The next line of its output without the line break; absent at the end of the output. Throws
  // Error(Io) when `patience` is over, and once the interrupt is raised.
  std::optional<std::string> read_line(Seconds patience);

  int wait();  // its exit code; -1 where a signal ended it
  void kill();
  // Whether a signal ended it, as one that closed its output; waits a second for its end.
  bool was_killed();

  // A line of each child in their order, each shown to `accept` when it comes. Throws Error(Io) as
  // soon as one of them has ended, when `patience` is over, and once an interrupt is raised.
  static std::vector<std::string> read_lines(std::span<Child* const> children, Seconds patience,
                                             const std::function<void(const std::string&)>& accept);

 private:
  std::optional<std::string> take_line();  // where a whole one has come
  bool fill();                             // reads what has come; false at the end of the output

  int pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  const Interrupt* interrupt_ = nullptr;
  std::string buffer_;
};

}  // namespace foretrain::lab

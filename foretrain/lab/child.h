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
  bool output_ends_with_it = false;      // not with what it leaves running, which may hold the pipe
};

// A process with pipes to its standard input and output, in a session of its own. It is killed when
// this object goes, with the processes of its session; by the system, alone, when this process ends
// in whatever way.
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
  // The same. Throws Error(Io) when `patience` is over, and once the interrupt is raised.
  int wait(Seconds patience);
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
  void note_end();                         // that nothing new will come

  int pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int end_ = -1;  // readable once the process has ended
  bool output_ends_with_it_ = false;
  std::optional<std::size_t> left_;  // bytes that the ended process has left in the pipe
  const Interrupt* interrupt_ = nullptr;
  std::string buffer_;
};

}  // namespace foretrain::lab

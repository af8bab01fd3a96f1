// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/lab/interrupt.h"

namespace foretrain::lab {
namespace {

constexpr int kPipeBytes = 1 << 20;
constexpr std::size_t kReadBytes = 1 << 16;
constexpr std::size_t kLongestLine = 256 << 20;  // a worker's samples take a few MiB

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::Io, what + ": " + std::strerror(errno));
}

// What the new process does before it becomes the program: only system calls, for other threads
// of ours may have held locks when it was made.
struct Preparation {
  std::vector<char*> words;
  std::vector<char*> environment;
  std::vector<const char*> cgroups;
  cpu_set_t cpus{};
  bool pinned = false;
  int input = -1;
  int output = -1;
  int errors = -1;
  int parent = 0;
};

void join_cgroup(const char* file) {
  const int cgroup = open(file, O_WRONLY);
  if (cgroup < 0 || write(cgroup, "0", 1) != 1) _exit(126);
  close(cgroup);
}

[[noreturn]] void become(const Preparation& preparation) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != preparation.parent) _exit(125);  // it is gone already
  for (const char* file : preparation.cgroups) join_cgroup(file);
  if (preparation.pinned) sched_setaffinity(0, sizeof(preparation.cpus), &preparation.cpus);
  dup2(preparation.input, STDIN_FILENO);
  dup2(preparation.output, STDOUT_FILENO);
  if (preparation.errors >= 0) dup2(preparation.errors, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();  // Ctrl-C is for us, who then end it
  execvpe(preparation.words.front(), preparation.words.data(), preparation.environment.data());
  _exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  return result;
}

std::vector<char*> whole_environment(const std::vector<std::string>& own) {
  std::vector<char*> result = pointers(own);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : own) replaced = replaced || other.starts_with(name);
    if (!replaced) result.push_back(*entry);
  }
  result.push_back(nullptr);
  return result;
}

int open_errors(const ChildOptions& options, int output) {
  if (options.errors == Errors::WithOutput) return output;
  if (options.errors != Errors::ToFile) return -1;
  const int file =
      open(options.error_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) fail("cannot write '" + options.error_file + "'");
  return file;
}

using Clock = std::chrono::steady_clock;

struct Deadline {
  explicit Deadline(Seconds patience)
      : at(Clock::now() + std::chrono::duration_cast<Clock::duration>(patience)) {}
  Clock::time_point at;
};

int descriptor_of(const Interrupt* interrupt) {
  return interrupt == nullptr ? -1 : interrupt->descriptor();
}

// Waits until one of `ready` can be read; the last one tells of an interrupt. False where there is
// nothing yet. Throws Error(Io) at the deadline and when interrupted.
bool heard(std::span<pollfd> ready, const Deadline& deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline.at - Clock::now());
  if (left.count() <= 0) throw Error(ErrorKind::Io, "a worker does not answer");
  constexpr std::chrono::milliseconds kLongestLook = std::chrono::hours{1};  // poll's is an int
  const auto look = static_cast<int>(std::min(left, kLongestLook).count()) + 1;
  if (poll(ready.data(), ready.size(), look) <= 0) return false;
  if (ready.back().revents != 0) throw Error(ErrorKind::Io, "interrupted");
  return true;
}

}  // namespace

Child::Child(const ChildOptions& options)
    : output_ends_with_it_(options.output_ends_with_it), interrupt_(options.interrupt) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) fail("pipe");
  fcntl(in[1], F_SETPIPE_SZ, kPipeBytes);  // where permitted: a whole graph fits
  Preparation preparation;
  preparation.words = pointers(options.words);
  preparation.words.push_back(nullptr);
  preparation.environment = whole_environment(options.environment);
  for (const std::string& file : options.cgroups) preparation.cgroups.push_back(file.c_str());
  for (const int cpu : options.cpus) CPU_SET(static_cast<std::size_t>(cpu), &preparation.cpus);
  preparation.pinned = !options.cpus.empty();
  preparation.input = in[0];
  preparation.output = out[1];
  preparation.errors = open_errors(options, out[1]);
  preparation.parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(preparation);
  close(in[0]);
  close(out[1]);
  if (options.errors == Errors::ToFile) close(preparation.errors);
  input_ = in[1];
  output_ = out[0];
  if (pid_ < 0) fail("cannot start '" + options.words.front() + "'");
  // Below 0 before Linux 5.3: then the output alone tells of the end.
  end_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Child::~Child() {
  kill();
  close_input();
  close(output_);
  if (end_ >= 0) close(end_);
}

void Child::write_line(std::string_view text) {
  std::string line(text);
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = write(input_, line.data() + sent, line.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("a worker has ended");
    sent += static_cast<std::size_t>(count);
  }
}

void Child::close_input() {
  if (input_ >= 0) close(std::exchange(input_, -1));
}

std::optional<std::string> Child::take_line() {
  // What was there before the last read has no line break, or it would have been taken.
  const std::size_t known = buffer_.size() - std::min(buffer_.size(), kReadBytes);
  const std::size_t end = buffer_.find('\n', known);
  if (end == std::string::npos) {
    if (buffer_.size() > kLongestLine) throw Error(ErrorKind::Io, "a worker's line never ends");
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

bool Child::fill() {
  std::array<char, kReadBytes> part{};
  const ssize_t count =
      read(output_, part.data(), std::min(part.size(), left_.value_or(kReadBytes)));
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  buffer_.append(part.data(), static_cast<std::size_t>(count));
  if (left_) *left_ -= static_cast<std::size_t>(count);
  return true;
}

void Child::note_end() {
  if (left_) return;
  int bytes = 0;
  left_ = ioctl(output_, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::optional<std::string> Child::read_line(Seconds patience) {
  const Deadline deadline(patience);
  while (true) {
    if (std::optional<std::string> line = take_line()) return line;
    // Of a descriptor below 0 nothing is ever heard.
    const int end = output_ends_with_it_ ? end_ : -1;
    std::array<pollfd, 3> ready{
        {{output_, POLLIN, 0}, {end, POLLIN, 0}, {descriptor_of(interrupt_), POLLIN, 0}}};
    if (!heard(ready, deadline)) continue;
    if (ready[1].revents != 0) note_end();
    if (left_ != 0 && fill()) continue;
    if (buffer_.empty()) return std::nullopt;
    return std::exchange(buffer_, {});
  }
}

std::vector<std::string> Child::read_lines(std::span<Child* const> children, Seconds patience,
                                           const std::function<void(const std::string&)>& accept) {
  const Deadline deadline(patience);
  std::vector<std::optional<std::string>> lines(children.size());
  while (true) {
    std::vector<std::size_t> waiting;
    std::vector<pollfd> ready;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (!lines[i] && (lines[i] = children[i]->take_line())) accept(*lines[i]);
      if (lines[i]) continue;
      waiting.push_back(i);
      ready.push_back({children[i]->output_, POLLIN, 0});
    }
    if (waiting.empty()) break;
    ready.push_back({descriptor_of(children[0]->interrupt_), POLLIN, 0});
    if (!heard(ready, deadline)) continue;
    for (std::size_t w = 0; w < waiting.size(); ++w) {
      if (ready[w].revents != 0 && !children[waiting[w]]->fill()) {
        throw Error(ErrorKind::Io, "a worker has ended");
      }
    }
  }
  std::vector<std::string> result;
  for (std::optional<std::string>& line : lines) result.push_back(std::move(*line));
  return result;
}

int Child::wait() {
  if (pid_ < 0) return -1;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int Child::wait(Seconds patience) {
  const Deadline deadline(patience);
  while (pid_ >= 0 && end_ >= 0) {
    std::array<pollfd, 2> ready{{{end_, POLLIN, 0}, {descriptor_of(interrupt_), POLLIN, 0}}};
    if (heard(ready, deadline)) break;
  }
  return wait();
}

bool Child::was_killed() {
  constexpr int kSignalled = 128;  // a shell's exit code for a signal begins here
  for (int look = 0; pid_ >= 0 && look < 100; ++look) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > kSignalled);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void Child::kill() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);  // what it has started
  ::kill(pid_, SIGKILL);   // itself, where it has no session yet
  wait();
}

}  // namespace foretrain::lab

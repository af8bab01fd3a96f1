// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::profile {
namespace {

sigset_t signals(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

sigset_t handed_on() {
  return signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD});
}

// In the child: waits for the word to begin, then becomes the command or says why not.
[[noreturn]] void become(std::vector<char*> words, int go, int failed, const sigset_t& mask) {
  char word = 0;
  if (read(go, &word, 1) != 1) _exit(1);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  execvp(words.front(), words.data());
  const int error = errno;
  if (write(failed, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Command::Command(const std::vector<std::string>& words, bool output_to_errors)
    : name_(words.front()), mask_(sizeof(sigset_t)) {
  std::vector<std::string> copy = words;
  std::vector<char*> pointers;
  pointers.reserve(copy.size() + 1);
  for (std::string& word : copy) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int go[2];
  int failed[2];
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0) {
    throw Error(ErrorKind::Io, std::string("cannot start a process: ") + std::strerror(errno));
  }
  const sigset_t blocked = handed_on();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  std::memcpy(mask_.data(), &before, sizeof before);
  process_ = fork();
  if (process_ == 0) {
    close(go[1]);
    if (output_to_errors) dup2(STDERR_FILENO, STDOUT_FILENO);
    become(pointers, go[0], failed[1], before);
  }
  close(go[0]);
  close(failed[1]);
  go_ = go[1];
  failed_ = failed[0];
  if (process_ < 0) {
    throw Error(ErrorKind::Io, std::string("cannot start a process: ") + std::strerror(errno));
  }
}

Command::~Command() {
  close(go_);  // a child that still waits for its word ends
  close(failed_);
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  sigset_t before;
  std::memcpy(&before, mask_.data(), sizeof before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Command::begin() {
  const char word = 1;
  int error = 0;
  const bool told = write(go_, &word, 1) == 1;
  const bool began = told && read(failed_, &error, sizeof error) != sizeof error;
  if (began) return;
  const ErrorKind kind = error == ENOENT ? ErrorKind::NotFound : ErrorKind::Io;
  throw Error(kind, "cannot run '" + printable(name_) + "': " + std::strerror(error));
}

int Command::wait() {
  const sigset_t awaited = handed_on();
  while (true) {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      return exit_code_of(status);
    }
    siginfo_t info{};
    const int number = sigwaitinfo(&awaited, &info);
    if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL) kill(process_, number);
  }
}

void wait_until(const std::function<bool()>& gone, Seconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  const sigset_t awaited = signals({SIGINT, SIGTERM, SIGHUP});
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &awaited, &before);
  const timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
  while (!gone()) {
    if (limit > Seconds{0} && std::chrono::steady_clock::now() - begin >= limit) break;
    if (sigtimedwait(&awaited, nullptr, &pause) > 0) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace foretrain::profile

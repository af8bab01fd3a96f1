// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/interrupt.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "foretrain/base/error.h"

namespace foretrain::lab {
namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt() {
  sigset_t noted;
  sigemptyset(&noted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&noted, number);
  }
  descriptor_ = signalfd(-1, &noted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::Io, std::string("cannot listen to signals: ") + std::strerror(errno));
  }
  pthread_sigmask(SIG_BLOCK, &noted, &before_);
}

Interrupt::~Interrupt() {
  signalfd_siginfo info;  // what was noted must not end the process now
  while (read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
  }
  close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupt::raised() const {
  pollfd ready{descriptor_, POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

}  // namespace foretrain::lab

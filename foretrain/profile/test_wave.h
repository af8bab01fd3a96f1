// SPDX-License-Identifier: Apache-2.0
// For tests: a child process that uses CPU or network in bursts and records what it truly did.
#pragma once

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

namespace foretrain::profile {

inline double clock_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline void sleep_s(double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }

// What the child did, in memory that both processes see. Times are of CLOCK_MONOTONIC.
struct WaveRecord {
  static constexpr int kMost = 64;
  std::atomic<int> state = 0;  // 0: preparing, 1: ready, 2: told to go, 3: done, -1: not permitted
  int bursts = 0;
  double begin_s[kMost] = {};
  double end_s[kMost] = {};
  double amount[kMost] = {};  // CPU seconds, or bytes on the interface, of each burst
  double idle_amount = 0;     // of everything else
};

// Runs `work` in a child; it begins when `go` is called.
class Wave {
 public:
  explicit Wave(const std::function<void(WaveRecord&)>& work)
      : record_(new (mmap(nullptr, sizeof(WaveRecord), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) WaveRecord) {
    child_ = fork();
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work(*record_);
    record_->state = 3;
    pause();  // stays, so that its counters can be read to the end
    _exit(0);
  }
  ~Wave() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(record_, sizeof(WaveRecord));
  }
  Wave(const Wave&) = delete;
  Wave& operator=(const Wave&) = delete;

  int process() const { return child_; }
  const WaveRecord& record() const { return *record_; }

  // Whether the child was permitted what it needs.
  bool ready() const {
    while (record_->state == 0) sleep_s(0.001);
    return record_->state == 1;
  }
  void go() { record_->state = 2; }
  void wait() const {
    while (record_->state != 3) sleep_s(0.01);
  }

 private:
  WaveRecord* record_;
  int child_ = 0;
};

struct Shape {
  int bursts = 8;
  double burst_s = 0.12;
  double idle_s = 0.08;
};

inline void wait_for_go(WaveRecord& record) {
  record.state = 1;
  while (record.state != 2) sleep_s(0.001);
}

// One core busy, then asleep. Real-time where it is permitted, so that others do not cut it up.
inline void cpu_wave(const Shape& shape, WaveRecord& record) {
  sched_param parameter{};
  parameter.sched_priority = 1;
  sched_setscheduler(0, SCHED_FIFO, &parameter);
  wait_for_go(record);
  const double cpu_before = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  double in_bursts = 0;
  sleep_s(shape.idle_s);
  for (int i = 0; i < shape.bursts; ++i) {
    const double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    record.begin_s[i] = clock_s(CLOCK_MONOTONIC);
    while (clock_s(CLOCK_MONOTONIC) < record.begin_s[i] + shape.burst_s) {
    }
    record.end_s[i] = clock_s(CLOCK_MONOTONIC);
    record.amount[i] = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    in_bursts += record.amount[i];
    record.bursts = i + 1;
    sleep_s(shape.idle_s);
  }
  record.idle_amount = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_before - in_bursts;
}

inline bool bring_loopback_up() {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool up = ioctl(any, SIOCSIFFLAGS, &request) == 0;
  close(any);
  return up;
}

// Datagrams over the loopback of a network namespace of its own: each is counted with its headers
// of 42 bytes (Ethernet 14, IP 20, UDP 8). 40 kB per millisecond: 40 MB/s in bursts, nothing else.
inline void network_wave(const Shape& shape, WaveRecord& record) {
  constexpr std::size_t kPayload = 20'000;
  constexpr double kHeaders = 42;
  constexpr int kPerMillisecond = 2;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 || !bring_loopback_up()) {
    record.state = -1;
    return;
  }
  sched_param parameter{};
  parameter.sched_priority = 1;
  sched_setscheduler(0, SCHED_FIFO, &parameter);
  const int to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(4000);
  if (bind(to, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      connect(from, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    record.state = -1;
    return;
  }
  std::vector<char> payload(kPayload);
  wait_for_go(record);
  sleep_s(shape.idle_s);
  for (int i = 0; i < shape.bursts; ++i) {
    const double begin = record.begin_s[i] = clock_s(CLOCK_MONOTONIC);
    for (int tick = 0; tick * 1e-3 < shape.burst_s; ++tick) {
      const double ahead = begin + tick * 1e-3 - clock_s(CLOCK_MONOTONIC);
      if (ahead > 0) sleep_s(ahead);
      for (int j = 0; j < kPerMillisecond; ++j) {
        if (send(from, payload.data(), kPayload, 0) > 0) record.amount[i] += kPayload + kHeaders;
        while (recv(to, payload.data(), kPayload, MSG_DONTWAIT) > 0) {
        }
      }
    }
    record.end_s[i] = clock_s(CLOCK_MONOTONIC);
    record.bursts = i + 1;
    sleep_s(shape.idle_s);
  }
}

}  // namespace foretrain::profile

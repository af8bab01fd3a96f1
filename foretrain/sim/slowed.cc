// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sim/detail/slowed.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace foretrain::sim {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

constexpr double kNever = std::numeric_limits<double>::infinity();

// What a resource does now.
struct Server {
  std::vector<TaskId> queue{};  // its tasks in order
  std::size_t next = 0;         // in the queue: the one that runs or waits
  std::size_t known = 0;        // so many of what it is after have ended
  bool running = false;
  double left_s = 0;  // of its work at full speed
  double rate = 1;
};

class Run {
 public:
  explicit Run(const Program& program)
      : program_(program), servers_(at(program.resources)), ended_(program.tasks.size(), false) {
    timeline_.spans.resize(program.tasks.size());
    for (std::size_t i = 0; i < program.tasks.size(); ++i) {
      servers_[at(program.tasks[i].resource)].queue.push_back(static_cast<TaskId>(i));
    }
  }

  Timeline run() {
    while (true) {
      start_ready();
      const double step = next_event();
      if (step == kNever) break;
      advance(step);
    }
    timeline_.end = Seconds{0};
    for (const Span& span : timeline_.spans) timeline_.end = std::max(timeline_.end, span.end);
    return std::move(timeline_);
  }

 private:
  bool ready(Server& server) const {
    const auto before = dependencies(program_, server.queue[server.next]);
    while (server.known < before.size() && ended_[at(before[server.known])]) ++server.known;
    return server.known == before.size();
  }

  // A task without duration ends at once, which may let others start.
  void start_ready() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Server& server : servers_) {
        while (!server.running && server.next < server.queue.size() && ready(server)) {
          const TaskId id = server.queue[server.next];
          timeline_.spans[at(id)].start = Seconds{now_};
          server.left_s = program_.tasks[at(id)].duration.count();
          server.running = true;
          if (server.left_s > 0) break;
          end(server);
          changed = true;
        }
      }
    }
  }

  double next_event() {
    double step = kNever;
    for (Server& server : servers_) server.rate = 1;
    for (const Slowdown& one : program_.slowdowns) {
      if (servers_[at(one.by)].running) servers_[at(one.of)].rate *= one.rate;
    }
    for (const Server& server : servers_) {
      if (server.running) step = std::min(step, server.left_s / server.rate);
    }
    return step;
  }

  // What is left after rounding counts as done.
  void advance(double step) {
    constexpr double kRounding = 1e-12;
    now_ += step;
    for (Server& server : servers_) {
      if (!server.running) continue;
      const double left = server.left_s - step * server.rate;
      if (left > kRounding * server.left_s) {
        server.left_s = left;
      } else {
        end(server);
      }
    }
  }

  void end(Server& server) {
    const TaskId id = server.queue[server.next++];
    timeline_.spans[at(id)].end = Seconds{now_};
    ended_[at(id)] = true;
    server.running = false;
    server.known = 0;
  }

  const Program& program_;
  std::vector<Server> servers_;
  std::vector<bool> ended_;  // of each task
  Timeline timeline_;
  double now_ = 0;
};

}  // namespace

Timeline run_slowed(const Program& program) { return Run(program).run(); }

}  // namespace foretrain::sim

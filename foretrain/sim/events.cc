// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "foretrain/sim/sim.h"

namespace foretrain::sim {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

// A binary heap, the smallest entry first.
template <typename Entry>
class Heap {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const Entry& top() const { return entries_.front(); }
  void push(const Entry& entry) {
    entries_.push_back(entry);
    std::push_heap(entries_.begin(), entries_.end(), std::greater<>{});
  }
  Entry pop() {
    std::pop_heap(entries_.begin(), entries_.end(), std::greater<>{});
    const Entry entry = entries_.back();
    entries_.pop_back();
    return entry;
  }

 private:
  std::vector<Entry> entries_;
};

// A task at a resource. Queue: `key` is the time at which it became ready. Shared: the service
// at which it ends.
struct Present {
  double key = 0;
  TaskId task = 0;
  bool operator>(const Present& other) const {
    return key != other.key ? key > other.key : task > other.task;
  }
};

struct State {
  Heap<Present> present;
  bool busy = false;     // Queue: a task is being served, which `present` no longer holds
  bool touched = false;  // is listed in Simulation::touched_
  // Shared: seconds of service that each task present had since the resource was last empty.
  // All have an equal share, so one number does for all: a task that joins at service v ends at
  // service v + duration, however many others come and go meanwhile.
  double service = 0;
  double updated = 0;        // the time for which `service` holds
  std::int32_t version = 0;  // Shared: an end foreseen under an older version is void
};

// What ends at `time`: a task, or whatever a Shared resource has to end then.
struct Event {
  double time = 0;
  bool shared = false;
  std::int32_t id = 0;  // of the task, or of the Shared resource
  std::int32_t version = 0;
  bool operator>(const Event& other) const {
    if (time != other.time) return time > other.time;
    return shared != other.shared ? shared : id > other.id;
  }
};

class Simulation {
 public:
  explicit Simulation(const Program& program);
  Timeline run();

 private:
  void link_tasks();
  void place(TaskId id);
  void start(TaskId id);
  void end(TaskId id);
  void handle(const Event& event);
  void end_shared(ResourceId id);
  void touch(ResourceId id);
  void settle();
  State& advance_shared(ResourceId id);

  const Program& program_;
  Timeline timeline_;
  std::vector<State> states_;
  std::vector<std::int32_t> missing_;         // ends that each task still waits for
  std::vector<std::int32_t> first_follower_;  // who waits for each task's end, flat like `after`
  std::vector<TaskId> followers_;
  std::vector<TaskId> ready_;        // became ready now, not yet placed
  std::vector<ResourceId> touched_;  // to settle once everything that ends now has ended
  Heap<Event> events_;
  double now_ = 0;
};

Simulation::Simulation(const Program& program)
    : program_(program), states_(program.resources.size()), missing_(program.tasks.size(), 0) {
  timeline_.spans.resize(program.tasks.size());
  link_tasks();
}

// Turns `after` around. A task on an InOrder resource also follows the one listed before it
// there, which is all that the order asks for.
void Simulation::link_tasks() {
  const std::size_t count = program_.tasks.size();
  std::vector<std::optional<TaskId>> last(program_.resources.size());
  first_follower_.assign(count + 2, 0);
  const auto for_each_pair = [&](auto&& visit) {
    std::fill(last.begin(), last.end(), std::nullopt);
    for (TaskId id = 0; at(id) < count; ++id) {
      for (const TaskId before : dependencies(program_, id)) visit(before, id);
      const ResourceId resource = program_.tasks[at(id)].resource;
      if (program_.resources[at(resource)].service != Service::InOrder) continue;
      if (last[at(resource)]) visit(*last[at(resource)], id);
      last[at(resource)] = id;
    }
  };
  for_each_pair([&](TaskId before, TaskId id) {
    ++first_follower_[at(before) + 2];
    ++missing_[at(id)];
  });
  for (std::size_t i = 2; i < first_follower_.size(); ++i) {
    first_follower_[i] += first_follower_[i - 1];
  }
  followers_.resize(at(first_follower_.back()));
  for_each_pair(
      [&](TaskId before, TaskId id) { followers_[at(first_follower_[at(before) + 1]++)] = id; });
}

Timeline Simulation::run() {
  for (TaskId id = 0; at(id) < missing_.size(); ++id) {
    if (missing_[at(id)] == 0) ready_.push_back(id);
  }
  while (true) {
    while (!ready_.empty()) {
      const TaskId id = ready_.back();
      ready_.pop_back();
      place(id);
    }
    const bool more_now = !events_.empty() && events_.top().time <= now_;
    if (!more_now && !touched_.empty()) {
      settle();
      continue;
    }
    if (events_.empty()) break;
    handle(events_.pop());
  }
  timeline_.end = Seconds{now_};
  return std::move(timeline_);
}

// Hands a task that became ready to its resource.
void Simulation::place(TaskId id) {
  const Task& task = program_.tasks[at(id)];
  switch (program_.resources[at(task.resource)].service) {
    case Service::InOrder:
      start(id);
      break;
    case Service::Queue:
      states_[at(task.resource)].present.push({now_, id});
      touch(task.resource);
      break;
    case Service::Shared:
      timeline_.spans[at(id)].start = Seconds{now_};
      if (task.duration == Seconds{0}) {
        end(id);
      } else {
        State& state = advance_shared(task.resource);
        state.present.push({state.service + task.duration.count(), id});
        touch(task.resource);
      }
      break;
  }
}

void Simulation::start(TaskId id) {
  timeline_.spans[at(id)].start = Seconds{now_};
  events_.push({.time = now_ + program_.tasks[at(id)].duration.count(), .id = id});
}

void Simulation::end(TaskId id) {
  timeline_.spans[at(id)].end = Seconds{now_};
  const auto first = followers_.begin() + first_follower_[at(id)];
  const auto last = followers_.begin() + first_follower_[at(id) + 1];
  for (auto follower = first; follower != last; ++follower) {
    if (--missing_[at(*follower)] == 0) ready_.push_back(*follower);
  }
}

void Simulation::handle(const Event& event) {
  if (event.shared) {
    if (states_[at(event.id)].version != event.version) return;
    now_ = event.time;
    end_shared(event.id);
    return;
  }
  now_ = event.time;
  const ResourceId resource = program_.tasks[at(event.id)].resource;
  if (program_.resources[at(resource)].service == Service::Queue) {
    states_[at(resource)].busy = false;
    touch(resource);
  }
  end(event.id);
}

// Ends the task that has had all its service, and those that end with it.
void Simulation::end_shared(ResourceId id) {
  State& state = states_[at(id)];
  state.service = state.present.top().key;  // exactly, where advancing would round
  state.updated = now_;
  while (!state.present.empty() && state.present.top().key <= state.service) {
    end(state.present.pop().task);
  }
  touch(id);
}

State& Simulation::advance_shared(ResourceId id) {
  State& state = states_[at(id)];
  if (state.present.empty()) {
    state.service = 0;
  } else {
    state.service += (now_ - state.updated) / static_cast<double>(state.present.size());
  }
  state.updated = now_;
  return state;
}

void Simulation::touch(ResourceId id) {
  State& state = states_[at(id)];
  ++state.version;
  if (state.touched) return;
  state.touched = true;
  touched_.push_back(id);
}

// Lets free queues take their next task, and foresees the next end of shared resources.
void Simulation::settle() {
  for (const ResourceId id : touched_) {
    State& state = states_[at(id)];
    state.touched = false;
    if (state.present.empty()) continue;
    if (program_.resources[at(id)].service == Service::Shared) {
      const double missing = std::max(0.0, state.present.top().key - state.service);
      const double time = now_ + missing * static_cast<double>(state.present.size());
      events_.push({.time = time, .shared = true, .id = id, .version = state.version});
    } else if (!state.busy) {
      state.busy = true;
      start(state.present.pop().task);
    }
  }
  touched_.clear();
}

}  // namespace

Timeline run_by_events(const Program& program) { return Simulation(program).run(); }

}  // namespace foretrain::sim

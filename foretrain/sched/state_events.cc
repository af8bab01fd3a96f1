// SPDX-License-Identifier: Apache-2.0
// What happens to a State by itself: nodes fail and come back, times come.
#include <algorithm>
#include <cmath>

#include "foretrain/sched/state.h"

namespace foretrain::sched {

const char* to_string(Happening what) {
  switch (what) {
    case Happening::Submit:
      return "submit";
    case Happening::Start:
      return "start";
    case Happening::Stop:
      return "preempt";
    case Happening::Fail:
      return "fail";
    case Happening::End:
      return "end";
    case Happening::NodeDown:
      return "node-down";
    case Happening::NodeUp:
      return "node-up";
  }
  return "";
}

void State::fail(int node) {
  std::vector<int> hit;
  for (const int slot : running_slots_) {
    for (const Share& share : job(slot).where.shares) {
      if (share.node == node) hit.push_back(slot);
    }
  }
  std::sort(hit.begin(), hit.end(), [this](int a, int b) { return job(a).job.id < job(b).job.id; });
  for (const int slot : hit) {
    release(slot);
    Active& active = at(slot);
    const double interval = costs_.checkpoint.count();
    if (interval > 0) active.done = Seconds{std::floor(active.done.count() / interval) * interval};
    ++active.failures;
    ++active.generation;
    tell(Happening::Fail, &active);
    enqueue(slot);
  }
  nodes_.bring_down(node);
  tell(Happening::NodeDown, nullptr, node);
}

void State::repair(int node) {
  nodes_.bring_up(node);
  tell(Happening::NodeUp, nullptr, node);
}

bool State::is_void(const Event& event) const {
  if (event.kind == Event::Kind::Up || event.kind == Event::Kind::Down) return false;
  if (event.slot < 0) return false;  // a policy's own
  return job(event.slot).generation != event.generation;
}

std::optional<Seconds> State::next_event() {
  while (!events_.empty() && is_void(events_.top())) events_.pop();
  if (events_.empty()) return std::nullopt;
  return events_.top().time;
}

Event State::pop_event() {
  const Event event = events_.top();
  events_.pop();
  return event;
}

void State::wake_at(Seconds time) { events_.push({time, Event::Kind::Wake, 0, -1, 0}); }

}  // namespace foretrain::sched

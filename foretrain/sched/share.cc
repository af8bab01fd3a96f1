// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/share.h"

#include <utility>

namespace foretrain::sched {

Candidates::Candidates(const Waiting& waiting) {
  const auto& classes = waiting.classes();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto& jobs = classes[i].jobs;
    if (!jobs.empty()) lines_.push_back({jobs.begin(), jobs.end(), static_cast<int>(i)});
  }
}

std::optional<int> Candidates::next() {
  current_ = nullptr;
  for (Line& line : lines_) {
    if (line.next == line.last) continue;
    if (current_ == nullptr || Earlier{}(*line.next, *current_->next)) current_ = &line;
  }
  if (current_ == nullptr) return std::nullopt;
  return current_->next->slot;
}

void Candidates::leave_class(int wait_class) {
  for (Line& line : lines_) {
    if (line.wait_class == wait_class) line.next = line.last;
  }
}

void start_in_order(State& state) {
  Candidates candidates(state.waiting());
  while (const std::optional<int> slot = candidates.next()) {
    candidates.take();
    if (!state.start(*slot)) return;
  }
}

void start_what_fits(State& state) {
  Candidates candidates(state.waiting());
  while (const std::optional<int> slot = candidates.next()) {
    const int wait_class = state.job(*slot).wait_class;
    candidates.take();
    if (!state.start(*slot)) candidates.leave_class(wait_class);
  }
}

namespace {

// The pass over all jobs, planned on the order of running jobs and then undone there.
class Plan {
 public:
  explicit Plan(State& state) : state_(state), running_(state.running()) {}

  void make() {
    Candidates candidates(state_.waiting());
    while (true) {
      const std::optional<int> slot = candidates.next();
      const std::optional<int> beyond = first_beyond();
      if (beyond && (!slot || is_ahead(*beyond, *slot))) {
        candidates.leave_class(state_.job(*beyond).wait_class);
        drop(*beyond);
      } else if (!slot) {
        return;
      } else if (const std::optional<int> pool = pool_with_room(*slot)) {
        candidates.take();
        add(*slot, *pool);
      } else {
        candidates.leave();
      }
    }
  }

  Changes act() {
    restore();
    Changes changes;
    for (const int slot : dropped_) {
      if (!state_.job(slot).running) continue;  // added and dropped again
      state_.stop(slot);
      changes.stopped.push_back(slot);
    }
    bool all_placed = true;
    for (const Added& added : added_) {
      if (added.dropped) continue;
      if (state_.start(added.slot, added.pool)) {
        changes.started.push_back(added.slot);
      } else {
        all_placed = false;
      }
    }
    // A placement may refuse, and one pool may have room for whom another dropped.
    if (!all_placed || state_.nodes().pools() > 1) start_what_fits(state_);
    return changes;
  }

 private:
  struct Added {
    int slot;
    int pool;
    Key key;
    bool dropped = false;
  };

  int room(int pool, int used) const { return state_.nodes().devices(pool) - used; }

  Key key_of(int slot) const {
    for (const Added& added : added_) {
      if (added.slot == slot) return added.key;
    }
    return state_.job(slot).key;
  }

  bool is_ahead(int running, int waiting) const {
    return ahead(key_of(running), state_.job(waiting).key, state_.now());
  }

  // The first running job, over all pools, that those ahead of it leave no room for.
  std::optional<int> first_beyond() const {
    std::optional<int> first;
    for (int pool = 0; pool < state_.nodes().pools(); ++pool) {
      const auto slot = running_.first_beyond(pool, state_.nodes().devices(pool), state_.now());
      if (slot && (!first || ahead(key_of(*slot), key_of(*first), state_.now()))) first = slot;
    }
    return first;
  }

  std::optional<int> pool_with_room(int slot) const {
    const Active& active = state_.job(slot);
    for (const int pool : active.pools) {
      if (room(pool, running_.used(pool)) >= active.job.devices) return pool;
      const int used = running_.used_ahead(pool, active.key, state_.now());
      if (room(pool, used) >= active.job.devices) return pool;
    }
    return std::nullopt;
  }

  void add(int slot, int pool) {
    const Key key = state_.job(slot).key;  // it keeps its place until the pass is over
    running_.insert(pool, state_.job(slot).job.devices, key, slot);
    added_.push_back({slot, pool, key});
  }

  void drop(int slot) {
    dropped_.push_back(slot);
    for (Added& added : added_) {
      if (added.slot != slot) continue;
      running_.erase(added.pool, state_.job(slot).job.devices, added.key, slot);
      added.dropped = true;
      return;
    }
    const Active& active = state_.job(slot);
    running_.erase(active.where.pool, active.job.devices, active.key, slot);
  }

  void restore() {
    for (const Added& added : added_) {
      if (added.dropped) continue;
      running_.erase(added.pool, state_.job(added.slot).job.devices, added.key, added.slot);
    }
    for (const int slot : dropped_) {
      const Active& active = state_.job(slot);
      if (!active.running) continue;
      running_.insert(active.where.pool, active.job.devices, active.key, slot);
    }
  }

  State& state_;
  Running& running_;
  std::vector<Added> added_;
  std::vector<int> dropped_;
};

}  // namespace

Changes share_by_rank(State& state) {
  Plan plan(state);
  plan.make();
  return plan.act();
}

}  // namespace foretrain::sched

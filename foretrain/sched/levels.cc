// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/levels.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {
namespace {

// Ties inside a level: those that run, in the order in which they started; then those that were
// stopped, the last one first; then those that came to the level and have not run there.
constexpr std::int64_t kRunning = std::int64_t{1} << 60;

class Stairs {
 public:
  explicit Stairs(Levels levels) : levels_(std::move(levels)) {}

  double rank_of(int level) const { return levels_.ranks[static_cast<std::size_t>(level)]; }

  std::optional<Seconds> until_next_level(const Active& active) const {
    const auto level = static_cast<std::size_t>(active.level);
    if (level >= levels_.limits.size()) return std::nullopt;
    const double attained = levels_.device_time ? device_seconds(active) : active.ran.count();
    const double rate = levels_.device_time ? active.job.devices : 1;
    return Seconds{std::max(0.0, (levels_.limits[level] - attained) / rate)};
  }

  void lower(State& state, int slot) {
    const int level = state.job(slot).level + 1;
    state.set_level(slot, level);
    state.set_key(slot, rank_of(level), state.count());
    lowered_.push_back(slot);
  }

  void decide(State& state) {
    const Changes changes = share_by_rank(state);
    std::vector<int> began = changes.started;
    for (const int slot : lowered_) {
      if (state.job(slot).running) began.push_back(slot);
    }
    place_stopped(state, changes.stopped);
    std::sort(began.begin(), began.end(),
              [&](int a, int b) { return ahead(state.job(a).key, state.job(b).key, state.now()); });
    for (const int slot : began) {
      state.set_key(slot, rank_of(state.job(slot).level), state.count() - kRunning);
    }
    lowered_.clear();
  }

 private:
  // In front of the waiting jobs of their level, or behind them where they have only just come.
  void place_stopped(State& state, const std::vector<int>& stopped) {
    std::vector<int> returned;
    for (const int slot : stopped) {
      const bool new_here = std::find(lowered_.begin(), lowered_.end(), slot) != lowered_.end();
      if (state.job(slot).running) continue;
      if (!new_here) returned.push_back(slot);
      if (new_here) state.set_key(slot, rank_of(state.job(slot).level), state.count());
    }
    for (auto slot = returned.rbegin(); slot != returned.rend(); ++slot) {
      state.set_key(*slot, rank_of(state.job(*slot).level), -state.count());
    }
  }

  Levels levels_;
  std::vector<int> lowered_;  // since the last decision
};

}  // namespace

Policy by_level(Levels levels) {
  const auto stairs = std::make_shared<Stairs>(std::move(levels));
  return {.decide = [stairs](State& state) { stairs->decide(state); },
          .rank = [stairs](const Active& active) { return stairs->rank_of(active.level); },
          .wake_after = [stairs](const Active& active) { return stairs->until_next_level(active); },
          .woken = [stairs](State& state, int slot) { stairs->lower(state, slot); },
          .stops_jobs = true};
}

}  // namespace foretrain::sched

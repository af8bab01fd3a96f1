// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {
namespace {

constexpr int kMostLookedAt = 1000;  // waiting jobs behind the first, per decision

// When the first job begins at the latest, if predictions hold.
struct Reservation {
  int pool = 0;
  Seconds time{0};
  int spare = 0;  // devices of the pool that are free then and that the first does not need
};

Seconds predicted_end(const Active& active, Seconds now) {
  const Seconds from = std::max(active.settled, active.resumes);
  return std::max(now, from + predicted_rest(active));
}

Reservation reserve_in(State& state, const Active& first, int pool) {
  struct Release {
    Seconds time;
    int devices;
  };
  std::vector<Release> releases;
  for (const int slot : state.running_slots()) {
    const Active& active = state.job(slot);
    if (active.where.pool != pool) continue;
    releases.push_back({predicted_end(active, state.now()), active.job.devices});
  }
  std::sort(releases.begin(), releases.end(),
            [](const Release& a, const Release& b) { return a.time < b.time; });
  int free = state.nodes().free(pool);
  Seconds time = state.now();
  for (std::size_t i = 0; i < releases.size(); ++i) {
    // All that ends at the same time is free then.
    if (free >= first.job.devices && releases[i].time > time) break;
    free += releases[i].devices;
    time = releases[i].time;
  }
  if (free < first.job.devices) time = Seconds{std::numeric_limits<double>::infinity()};
  return {pool, time, free - first.job.devices};
}

Reservation reserve(State& state, const Active& first) {
  Reservation best = reserve_in(state, first, first.pools.front());
  for (const int pool : first.pools) {
    const Reservation other = reserve_in(state, first, pool);
    if (other.time < best.time) best = other;
  }
  return best;
}

// Starts the job where that does not delay the reservation.
bool start_beside(State& state, int slot, Reservation& reservation) {
  const Active& active = state.job(slot);
  for (const int pool : active.pools) {
    if (state.nodes().free(pool) < active.job.devices) continue;
    const bool ends_before = state.now() + predicted_rest(active) <= reservation.time;
    const bool beside = pool != reservation.pool || ends_before;
    if (!beside && active.job.devices > reservation.spare) continue;
    const int devices = active.job.devices;
    if (!state.start(slot, pool)) continue;
    if (!beside) reservation.spare -= devices;
    return true;
  }
  return false;
}

void decide(State& state) {
  start_in_order(state);
  Candidates line(state.waiting());
  const std::optional<int> first = line.next();
  if (!first) return;
  line.take();
  if (!line.next()) return;
  Reservation reservation = reserve(state, state.job(*first));
  for (int looked_at = 0; looked_at < kMostLookedAt; ++looked_at) {
    const std::optional<int> slot = line.next();
    if (!slot) return;
    const Active& active = state.job(*slot);
    const bool fits = std::any_of(active.pools.begin(), active.pools.end(), [&](int pool) {
      return state.nodes().free(pool) >= active.job.devices;
    });
    if (!fits) {
      line.leave();
      continue;
    }
    line.take();
    start_beside(state, *slot, reservation);
  }
}

}  // namespace

// EASY backfilling: first come, first served, and the first that has to wait has a reservation
// at the time when enough devices will be free by prediction. Others may go ahead of it where
// they end by then or leave it enough.
// Source: Lifka, JSSPP 1995.
Policy easy(const PolicyOptions& /*options*/) { return {.decide = decide}; }

}  // namespace foretrain::sched

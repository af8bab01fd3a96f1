// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "foretrain/sched/detail/linear_program.h"
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/state.h"

namespace foretrain::sched {
namespace {

// Jobs that are alike to the programme: as many devices, the same relative speeds.
struct Kind {
  int devices = 1;
  std::vector<double> speeds;  // by pool, relative to an equal share of the cluster; 0: cannot
  int jobs = 0;
  std::vector<double> shares;  // of time in each pool: the solution
};

class Gavel {
 public:
  explicit Gavel(Seconds round) : round_(round) {}

  void add(State& state, int slot) {
    const Active& active = state.job(slot);
    Member& member = members_[active.job.id];
    if (!member.speeds.empty()) return;  // came back
    member.slot = slot;
    member.arrived = state.now();
    member.received.assign(static_cast<std::size_t>(state.nodes().pools()), Seconds{0});
    member.speeds = relative_speeds(state, active);
    changed_ = true;
  }

  // Jobs are given devices at the beginning of rounds, and nothing changes in between.
  void decide(State& state) {
    if (state.now() < next_round_) return;
    account(state);
    if (members_.empty()) {
      running_.clear();
      return;
    }
    if (changed_) divide(state);
    assign(state);
    last_round_ = state.now();
    next_round_ = state.now() + round_;
    state.wake_at(next_round_);
  }

 private:
  struct Member {
    int slot = 0;
    Seconds arrived{0};
    std::vector<double> speeds;
    std::vector<Seconds> received;  // by pool
    int kind = 0;
  };

  static std::vector<double> relative_speeds(State& state, const Active& active) {
    std::vector<double> speeds(static_cast<std::size_t>(state.nodes().pools()), 0.0);
    double equal = 0;
    double devices = 0;
    for (const int pool : active.pools) {
      const Timing timing = state.timing_alone(active.job, pool);
      double& speed = speeds[static_cast<std::size_t>(pool)];
      speed = 1 / std::max(timing.predicted.count(), 1e-9);
      equal += speed * state.nodes().built(pool);
      devices += state.nodes().built(pool);
    }
    for (double& speed : speeds) speed = std::round(1e6 * speed * devices / equal) / 1e6;
    return speeds;
  }

  // Books the round that is over and forgets jobs that have ended.
  void account(State& state) {
    for (const auto& [id, pool] : running_) {
      const auto member = members_.find(id);
      if (member == members_.end()) continue;
      member->second.received[static_cast<std::size_t>(pool)] += state.now() - last_round_;
    }
    for (auto member = members_.begin(); member != members_.end();) {
      const bool here = state.job(member->second.slot).job.id == member->first;
      member = here ? std::next(member) : members_.erase(member);
      changed_ = changed_ || !here;
    }
  }

  // Maximises the least relative speed: sum over pools of share x speed.
  void divide(State& state) {
    kinds_.clear();
    std::map<std::pair<int, std::vector<double>>, int> index;
    for (auto& [id, member] : members_) {
      const int devices = state.job(member.slot).job.devices;
      const auto [place, added] =
          index.try_emplace({devices, member.speeds}, static_cast<int>(kinds_.size()));
      if (added) kinds_.push_back({devices, member.speeds, 0, {}});
      member.kind = place->second;
      ++kinds_[static_cast<std::size_t>(member.kind)].jobs;
    }
    const std::vector<double> solution = solve(programme(state));
    const auto pools = static_cast<std::size_t>(state.nodes().pools());
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const auto begin = solution.begin() + static_cast<std::ptrdiff_t>(kind * pools);
      kinds_[kind].shares.assign(begin, begin + static_cast<std::ptrdiff_t>(pools));
    }
    changed_ = false;
  }

  // Variables: the share of each kind in each pool, then the least relative speed. The sum of
  // all speeds breaks ties, so that nothing is left idle.
  LinearProgram programme(const State& state) const {
    const int pools = state.nodes().pools();
    const int least = static_cast<int>(kinds_.size()) * pools;
    LinearProgram program;
    program.objective.assign(static_cast<std::size_t>(least) + 1, 0.0);
    program.objective.back() = 1;
    std::vector<LinearProgram::Row> capacity(static_cast<std::size_t>(pools));
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const Kind& kind = kinds_[k];
      LinearProgram::Row speed{{{least, 1}}, 0};
      LinearProgram::Row time{{}, 1};
      for (int pool = 0; pool < pools; ++pool) {
        const int variable = static_cast<int>(k) * pools + pool;
        const double relative = kind.speeds[static_cast<std::size_t>(pool)];
        speed.terms.push_back({variable, -relative});
        time.terms.push_back({variable, relative > 0 ? 1 : 1e9});  // a pool that cannot hold it
        capacity[static_cast<std::size_t>(pool)].terms.push_back(
            {variable, static_cast<double>(kind.devices) * kind.jobs});
        program.objective[static_cast<std::size_t>(variable)] = 1e-6 * relative * kind.jobs;
      }
      program.rows.push_back(std::move(speed));
      program.rows.push_back(std::move(time));
    }
    for (int pool = 0; pool < pools; ++pool) {
      capacity[static_cast<std::size_t>(pool)].limit = state.nodes().devices(pool);
      program.rows.push_back(std::move(capacity[static_cast<std::size_t>(pool)]));
    }
    return program;
  }

  // What a job wants: a pool, the more urgently the further it is behind its share of it.
  struct Claim {
    double priority;
    std::int64_t id;
    int slot;
    int pool;
  };

  std::vector<Claim> claims(const State& state) const {
    std::vector<Claim> result;
    for (const auto& [id, member] : members_) {
      const Kind& kind = kinds_[static_cast<std::size_t>(member.kind)];
      const double age = (state.now() - member.arrived + round_).count();
      for (std::size_t pool = 0; pool < kind.shares.size(); ++pool) {
        if (kind.shares[pool] <= 1e-9) continue;
        const double received = (member.received[pool] + 1e-3 * round_).count() / age;
        result.push_back({kind.shares[pool] / received, id, member.slot, static_cast<int>(pool)});
      }
    }
    std::sort(result.begin(), result.end(), [](const Claim& a, const Claim& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
    });
    return result;
  }

  // The claims that there are devices for, by job.
  std::map<std::int64_t, Claim> grant(const State& state) const {
    std::vector<int> free(static_cast<std::size_t>(state.nodes().pools()));
    for (int pool = 0; pool < state.nodes().pools(); ++pool) {
      free[static_cast<std::size_t>(pool)] = state.nodes().devices(pool);
    }
    std::map<std::int64_t, Claim> granted;
    for (const Claim& claim : claims(state)) {
      const int devices = state.job(claim.slot).job.devices;
      int& left = free[static_cast<std::size_t>(claim.pool)];
      if (left < devices || granted.contains(claim.id)) continue;
      left -= devices;
      granted.emplace(claim.id, claim);
    }
    return granted;
  }

  void assign(State& state) {
    const std::map<std::int64_t, Claim> granted = grant(state);
    const std::vector<int> before = state.running_slots();
    for (const int slot : before) {
      const auto place = granted.find(state.job(slot).job.id);
      const bool stays = place != granted.end() && place->second.pool == state.job(slot).where.pool;
      if (!stays) state.stop(slot);
    }
    running_.clear();
    for (const auto& [id, claim] : granted) {
      const bool runs = state.job(claim.slot).running || state.start(claim.slot, claim.pool);
      if (runs) running_.emplace_back(id, claim.pool);
    }
  }

  Seconds round_;
  Seconds next_round_{0};
  Seconds last_round_{0};
  bool changed_ = false;
  std::map<std::int64_t, Member> members_;  // by job
  std::vector<Kind> kinds_;
  std::vector<std::pair<std::int64_t, int>> running_;  // in this round: job, pool
};

}  // namespace

// Max-min fairness on mixed devices: a linear programme finds what share of time each job gets
// on each type so that the slowest, relative to an equal share of the cluster, is as fast as
// can be; rounds then give out devices so that jobs come to their shares.
// Source: Narayanan et al., Gavel, OSDI 2020, sections 4.1 and 5.
Policy max_min_fairness(const PolicyOptions& options) {
  const auto gavel = std::make_shared<Gavel>(options.round);
  return {.decide = [gavel](State& state) { gavel->decide(state); },
          .queued = [gavel](State& state, int slot) { gavel->add(state, slot); },
          .stops_jobs = false};
}

}  // namespace foretrain::sched

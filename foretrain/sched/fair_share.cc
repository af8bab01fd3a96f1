// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/state.h"

namespace foretrain::sched {
namespace {

class Users {
 public:
  void add(const State& state, int slot) {
    const Job& job = state.job(slot).job;
    users_[job.user].waiting.insert({job.id, slot});
  }

  void decide(State& state) {
    count_held(state);
    std::set<std::tuple<int, double, std::string>> line;
    for (const auto& [name, user] : users_) {
      if (!user.waiting.empty()) line.insert({user.held, user.attained, name});
    }
    while (!line.empty()) {
      const auto [held, attained, name] = *line.begin();
      line.erase(line.begin());
      User& user = users_[name];
      const int devices = start_one(state, user);
      if (devices == 0) continue;  // none of theirs fits
      user.held += devices;
      if (!user.waiting.empty()) line.insert({user.held, attained, name});
    }
  }

 private:
  struct User {
    std::set<std::pair<std::int64_t, int>> waiting;  // in the order of arrival
    int held = 0;                                    // devices, now
    double attained = 0;                             // device seconds of the running jobs
  };

  void count_held(State& state) {
    for (auto& [name, user] : users_) {
      user.held = 0;
      user.attained = 0;
    }
    for (const int slot : state.running_slots()) {
      const Active& active = state.job(slot);
      User& user = users_[active.job.user];
      user.held += active.job.devices;
      user.attained += active.job.devices * (state.now() - *active.first_start).count();
    }
  }

  // The devices of the first of the user's jobs that fits, which is started; 0 where none does.
  static int start_one(State& state, User& user) {
    std::set<int> refused;  // kinds of jobs
    for (auto place = user.waiting.begin(); place != user.waiting.end(); ++place) {
      const int slot = place->second;
      const Active& active = state.job(slot);
      if (refused.contains(active.wait_class)) continue;
      if (state.start(slot)) {
        user.waiting.erase(place);
        return active.job.devices;
      }
      refused.insert(active.wait_class);
      if (refused.size() == state.waiting().classes().size()) break;
    }
    return 0;
  }

  std::map<std::string, User> users_;
};

}  // namespace

// Whoever holds the fewest devices now is served next, then who has used less of what they
// hold; inside a user first come, first served among those that fit.
Policy fair_share(const PolicyOptions& /*options*/) {
  const auto users = std::make_shared<Users>();
  return {.decide = [users](State& state) { users->decide(state); },
          .queued = [users](State& state, int slot) { users->add(state, slot); }};
}

}  // namespace foretrain::sched

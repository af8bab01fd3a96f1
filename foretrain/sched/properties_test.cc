// SPDX-License-Identifier: Apache-2.0
// What must hold for any trace, cluster and policy; and the fast pass against a plain one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "foretrain/sched/detail/share.h"
#include "foretrain/sched/test_runs.h"

namespace foretrain::sched {
namespace {

std::vector<Job> random_jobs(std::mt19937& random, int count, int most_devices) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Job> jobs;
  double submit = 0;
  for (int i = 0; i < count; ++i) {
    submit += below(4);
    Job job = test_job(std::to_string(i), submit, below(30), 1 + below(most_devices));
    job.user = std::string(1, static_cast<char>('a' + below(3)));
    job.priority = below(3);
    if (below(2) == 0) job.deadline = Seconds{1.0 + below(100)};
    jobs.push_back(job);
  }
  return jobs;
}

// Holds every event against the rules as it happens.
class Referee {
 public:
  explicit Referee(const hw::Cluster& cluster) : cluster_(cluster), held_(cluster.nodes.size()) {}

  void see(Happening what, Seconds now, const Active* active, int node) {
    EXPECT_GE(now, last_);
    last_ = now;
    if (active == nullptr) {
      if (what == Happening::NodeDown) {
        EXPECT_EQ(held_[static_cast<std::size_t>(node)], 0);
      }
      return;
    }
    const std::int64_t id = active->job.id;
    if (what == Happening::Submit) {
      EXPECT_TRUE(waiting_.insert(id).second);
    } else if (what == Happening::Start) {
      EXPECT_EQ(waiting_.erase(id), 1U);
      EXPECT_TRUE(running_.emplace(id, active->where).second);
      hold(active->where, active->job.devices, 1);
    } else {
      ASSERT_EQ(running_.count(id), 1U);
      hold(running_.at(id), active->job.devices, -1);
      running_.erase(id);
      if (what != Happening::End) waiting_.insert(id);
    }
  }

  bool all_gone() const { return waiting_.empty() && running_.empty(); }

 private:
  void hold(const Allocation& where, int devices, int sign) {
    int sum = 0;
    for (const Share& share : where.shares) {
      const auto node = static_cast<std::size_t>(share.node);
      EXPECT_GT(share.devices, 0);
      held_[node] += sign * share.devices;
      EXPECT_GE(held_[node], 0);
      EXPECT_LE(held_[node], cluster_.nodes[node].devices);
      EXPECT_EQ(cluster_.nodes[node].device,
                cluster_.nodes[static_cast<std::size_t>(where.shares[0].node)].device);
      sum += share.devices;
    }
    EXPECT_EQ(sum, devices);
  }

  const hw::Cluster& cluster_;
  std::vector<int> held_;
  std::set<std::int64_t> waiting_;
  std::map<std::int64_t, Allocation> running_;
  Seconds last_{0};
};

TEST(Properties, NoDeviceTwiceNoJobLostWorkConserved) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 6; ++trial) {
    const hw::Cluster cluster = test_cluster(2 + trial, 4, 1 + trial % 2);
    const std::vector<Job> jobs = random_jobs(random, 150, 8);
    for (const PolicyEntry& entry : policies()) {
      for (const Placement& placement : placements()) {
        Referee referee(cluster);
        Watch watch;
        watch.observer.on_event = [&](Happening what, Seconds now, const Active* active, int node) {
          referee.see(what, now, active, node);
        };
        int ended = 0;
        watch.on_ended = [&](const Active& active, Seconds now) {
          ++ended;
          EXPECT_NEAR(active.ran.count(), active.job.duration->count(), 1e-9);
          EXPECT_GE(now - active.job.submit, active.ran - Seconds{1e-9});
        };
        Options options;
        options.place = placement.place;
        const Policy policy =
            entry.make({.limits = {20, 60}, .history = {5, 10, 100}, .round = Seconds{7}});
        simulate(source_of(jobs), cluster, policy, traced_duration, options, watch);
        EXPECT_EQ(ended, 150) << entry.name << " " << placement.name;
        EXPECT_TRUE(referee.all_gone()) << entry.name << " " << placement.name;
      }
    }
  }
}

TEST(Properties, FailuresLoseNoJob) {
  std::mt19937 random(2);
  const hw::Cluster cluster = test_cluster(4, 4);
  const std::vector<Job> jobs = random_jobs(random, 150, 8);
  for (const PolicyEntry& entry : policies()) {
    Referee referee(cluster);
    Watch watch;
    watch.observer.on_event = [&](Happening what, Seconds now, const Active* active, int node) {
      referee.see(what, now, active, node);
    };
    Options options;
    options.node_mtbf = Seconds{50};
    options.repair = Seconds{5};
    options.costs = {Seconds{1}, Seconds{3}};
    const Policy policy =
        entry.make({.limits = {20, 60}, .history = {5, 10, 100}, .round = Seconds{7}});
    const Summary summary =
        simulate(source_of(jobs), cluster, policy, traced_duration, options, watch);
    EXPECT_EQ(summary.completed, 150) << entry.name;
    EXPECT_GT(summary.failures, 0) << entry.name;
    EXPECT_TRUE(referee.all_gone()) << entry.name;
  }
}

TEST(Properties, FifoStartsInTheOrderOfArrival) {
  std::mt19937 random(3);
  for (const Placement& placement : placements()) {
    TestSetup setup;
    setup.cluster = test_cluster(3, 4);
    setup.options.place = placement.place;
    const std::vector<Job> jobs = random_jobs(random, 300, 12);
    const TestRun run = run_jobs(setup, jobs);
    for (std::size_t i = 1; i < jobs.size(); ++i) {
      EXPECT_GE(run.jobs.at(jobs[i].name).start, run.jobs.at(jobs[i - 1].name).start);
    }
  }
}

// Whenever something happens, the time at which the first waiting job could begin by what runs
// then is never later than it was before.
TEST(Properties, BackfillingNeverDelaysTheReservedJob) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    const hw::Cluster cluster = test_cluster(1, 16);
    std::map<std::int64_t, int> waiting;                     // devices
    std::map<std::int64_t, std::pair<double, int>> running;  // end, devices
    std::int64_t first = -1;
    double reserved = 0;
    const auto check = [&](double now) {
      if (waiting.empty()) return;
      const auto& [id, needed] = *waiting.begin();
      int free = 16;
      std::vector<std::pair<double, int>> ends;
      for (const auto& [other, run] : running) {
        free -= run.second;
        ends.push_back(run);
      }
      std::sort(ends.begin(), ends.end());
      double time = now;
      for (std::size_t i = 0; free < needed; ++i) {
        free += ends[i].second;
        time = std::max(now, ends[i].first);
      }
      if (id == first) {
        EXPECT_LE(time, reserved);
      }
      first = id;
      reserved = time;
    };
    Watch watch;
    watch.observer.on_event = [&](Happening what, Seconds now, const Active* active, int) {
      const std::int64_t id = active->job.id;
      if (what == Happening::Submit) waiting[id] = active->job.devices;
      if (what == Happening::Start) {
        waiting.erase(id);
        running[id] = {(now + *active->job.duration).count(), active->job.devices};
      }
      if (what == Happening::End) running.erase(id);
      check(now.count());
    };
    const Policy policy = find_policy("easy").make({});
    simulate(source_of(random_jobs(random, 200, 16)), cluster, policy, traced_duration, {}, watch);
  }
}

TEST(Properties, TheSameSeedGivesTheSameEvents) {
  std::mt19937 random(5);
  TestSetup setup;
  setup.cluster = test_cluster(3, 4);
  setup.options.node_mtbf = Seconds{100};
  setup.policy = "srtf";
  const std::vector<Job> jobs = random_jobs(random, 200, 8);
  const std::string log = run_jobs(setup, jobs).log;
  EXPECT_EQ(log, run_jobs(setup, jobs).log);
  setup.options.seed = 1;
  EXPECT_NE(log, run_jobs(setup, jobs).log);
}

// All jobs sorted and gone through from the front at every decision: what share_by_rank must
// equal. `weight` is 1, or the devices.
Policy plain_rest(bool by_devices) {
  const auto weight = [by_devices](const Active& active) {
    return by_devices ? static_cast<double>(active.job.devices) : 1.0;
  };
  Policy policy;
  policy.decide = [weight](State& state) {
    std::vector<int> all = state.running_slots();
    for (const WaitingClass& kind : state.waiting().classes()) {
      for (const Entry& entry : kind.jobs) all.push_back(entry.slot);
    }
    for (const int slot : all) state.bring_up_to_date(slot);
    const auto key = [&](int slot) {
      const Active& active = state.job(slot);
      return std::make_tuple(predicted_rest(active).count() * weight(active),
                             active.running ? weight(active) : 0, active.job.id);
    };
    std::sort(all.begin(), all.end(), [&](int a, int b) { return key(a) < key(b); });
    int free = state.nodes().devices(0);
    std::vector<int> starts;
    for (const int slot : all) {
      const Active& active = state.job(slot);
      const bool fits = active.job.devices <= free;
      if (fits) free -= active.job.devices;
      if (fits && !active.running) starts.push_back(slot);
      if (!fits && active.running) state.stop(slot);
    }
    for (const int slot : starts) state.start(slot);
  };
  return policy;
}

TEST(Properties, TheFastPassEqualsThePlainOne) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 40; ++trial) {
    TestSetup setup;
    setup.cluster = test_cluster(1, 8 + trial % 9);
    const std::vector<Job> jobs = random_jobs(random, 200, 8);
    for (const bool by_devices : {false, true}) {
      setup.policy = by_devices ? "srgt" : "srtf";
      const TestRun fast = run_jobs(setup, jobs);
      const TestRun plain = run_policy(setup, plain_rest(by_devices), jobs);
      ASSERT_EQ(fast.summary.preemptions, plain.summary.preemptions) << trial;
      for (const Job& job : jobs) {
        ASSERT_EQ(fast.jobs.at(job.name).end, plain.jobs.at(job.name).end)
            << setup.policy << " " << trial << " " << job.name;
      }
    }
  }
}

}  // namespace
}  // namespace foretrain::sched

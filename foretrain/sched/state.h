// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "foretrain/sched/job.h"
#include "foretrain/sched/network.h"
#include "foretrain/sched/nodes.h"
#include "foretrain/sched/placement.h"
#include "foretrain/sched/policy.h"
#include "foretrain/sched/ranking.h"

namespace foretrain::sched {

// How long a job takes where; must answer the same for the same question.
using Durations = std::function<Timing(const Job&, const Allocation&)>;

// A job that has arrived and not ended.
struct Active {
  Job job;
  bool running = false;
  Allocation where;        // while it runs
  std::vector<int> pools;  // where it may run, the fastest by prediction first
  Timing timing;           // where it runs, or ran, or would by itself
  Seconds done{0};         // of timing.actual
  Seconds ran{0};          // in all, with restarts and work that was lost
  Seconds settled{0};      // when `done` and `ran` were last brought up to date
  Seconds resumes{0};      // until then it restarts and makes no progress
  double speed = 1;        // below 1 where links are shared
  std::optional<Seconds> first_start;
  int preemptions = 0;
  int failures = 0;
  int level = 0;  // of service, for policies that have such
  Key key;

  int wait_class = 0;            // Waiting
  bool stopping = false;         // stopped by the decision that is being made
  std::uint32_t generation = 0;  // events of older ones are void
};

// What a policy expects that a job still takes: the prediction less what it has run. Negative
// where the prediction was too short.
inline Seconds predicted_rest(const Active& active) {
  return active.timing.predicted - active.done;
}

// The time that a job has run without interruption counts times its devices.
inline double device_seconds(const Active& active) {
  return active.ran.count() * active.job.devices;
}

struct Costs {
  Seconds restart{0};     // a stopped or failed job makes no progress for so long when it resumes
  Seconds checkpoint{0};  // a failure loses what was done since the last multiple; 0: nothing
};

// What happens, in order, for those who watch.
enum class Happening { Submit, Start, Stop, Fail, End, NodeDown, NodeUp };
const char* to_string(Happening what);

struct Observer {
  // `active` is null for nodes, `node` -1 for jobs.
  std::function<void(Happening what, Seconds now, const Active* active, int node)> on_event;
};

struct Event {
  enum class Kind { End, Up, Down, Wake };  // in the order in which they are handled
  Seconds time{0};
  Kind kind = Kind::End;
  std::int64_t id = 0;  // of the job, or the node
  int slot = 0;
  std::uint32_t generation = 0;
};
struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return std::tie(a.time, a.kind, a.id) > std::tie(b.time, b.kind, b.id);
  }
};

// The cluster and its jobs at one moment: what a policy sees, and how it acts.
class State {
 public:
  State(const hw::Cluster& cluster, const Policy& policy, Durations durations, Place place,
        const Costs& costs, const Observer& observer);

  // ---- what a policy sees
  Seconds now() const { return now_; }
  const Active& job(int slot) const { return *jobs_[static_cast<std::size_t>(slot)]; }
  const Waiting& waiting() const { return waiting_; }
  const Nodes& nodes() const { return nodes_; }
  // Running jobs by rank; a pass that plans ahead may change it and must restore it.
  Running& running() { return running_; }
  const std::vector<int>& running_slots() const { return running_slots_; }
  std::int64_t count() { return ++counter_; }  // 1, 2, 3, ...: for ties

  // How long the job takes in a pool, on as few nodes as can be.
  Timing timing_alone(const Job& job, int pool) const;

  // ---- how it acts
  // Starts a waiting job in the first of its pools, or in this one; false where it has no place.
  bool start(int slot);
  bool start(int slot, int pool);
  void stop(int slot);  // keeps its progress; starting it again at once undoes that
  void set_key(int slot, double rank, std::int64_t tie);
  void set_level(int slot, int level) { at(slot).level = level; }
  void bring_up_to_date(int slot);  // done, ran
  void wake_at(Seconds time);       // decide then, whatever happens

  // ---- for the simulation
  void advance(Seconds time) { now_ = time; }
  bool can_hold(const Job& job) const;
  void arrive(Job job);  // throws Error(BadInput) where no pool is large enough
  Active end(int slot);
  void fail(int node);  // its jobs wait again
  void repair(int node);
  void wake(int slot);
  void decide();
  bool idle() const { return waiting_.empty() && running_slots_.empty(); }
  void push_event(const Event& event) { events_.push(event); }
  std::optional<Seconds> next_event();  // drops those that are void
  Event pop_event();                    // after next_event
  double busy_device_seconds() const { return busy_; }

 private:
  Active& at(int slot) { return *jobs_[static_cast<std::size_t>(slot)]; }
  bool fits_pool(const Job& job, int pool) const;
  void choose_pools(Active& active) const;
  void enqueue(int slot);
  void begin(int slot, Allocation where);
  void release(int slot);
  bool undo_stop(int slot);
  void finish_stop(int slot);
  void rank_running(int slot);
  void schedule(int slot);
  void wake_later(int slot);
  bool is_void(const Event& event) const;
  Allocation alone(int pool, int devices) const;
  void tell(Happening what, const Active* active, int node = -1) const;

  Nodes nodes_;
  std::vector<std::vector<int>> largest_first_;  // nodes of each pool
  const Policy& policy_;
  Durations durations_;
  Place place_;
  Costs costs_;
  const Observer& observer_;
  Seconds now_{0};
  std::vector<std::unique_ptr<Active>> jobs_;
  std::vector<int> free_slots_;
  std::vector<int> running_slots_;
  std::vector<int> position_;  // of a slot in running_slots_
  std::vector<int> stopped_;   // by the decision that is being made, in order
  std::vector<int> started_;   // likewise
  Waiting waiting_;
  Running running_;
  Network network_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::int64_t counter_ = 0;
  double busy_ = 0;
};

}  // namespace foretrain::sched

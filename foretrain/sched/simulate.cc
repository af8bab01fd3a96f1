// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/simulate.h"

#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/sched/detail/random.h"

namespace foretrain::sched {
namespace {

// Events, of which a million take seconds, in a row in which no job comes or ends: rounds of a
// policy that are too short for the jobs, or nodes that fail before a job gets anywhere.
constexpr std::int64_t kMostBarren = 1'000'000;

// Means from one failure of a node to the next after which its state no longer tells the one
// before.
constexpr double kForgotten = 10;

class Simulation {
 public:
  Simulation(const JobSource& source, const hw::Cluster& cluster, const Policy& policy,
             const Durations& durations, const Options& options, const Watch& watch)
      : source_(source),
        options_(options),
        watch_(watch),
        state_(cluster, policy, durations, options.place, options.costs, watch.observer) {}

  Summary run() {
    read_next();
    if (pending_) first_submit_ = pending_->submit;
    plan_failures();
    while (pending_ || !state_.idle()) {
      if (summary_.jobs > 0) leave_out_idle_failures();
      count_event();
      const Seconds now = next_time();
      state_.advance(now);
      handle_events(now);
      while (pending_ && pending_->submit == now) arrive();
      state_.decide();
    }
    return finish();
  }

 private:
  void read_next() {
    Job job;
    if (!source_(job)) {
      pending_.reset();
      return;
    }
    if (pending_ && job.submit < pending_->submit) {
      throw Error(ErrorKind::BadInput, "job '" + printable(job.name) +
                                           "' was submitted before the one in front of it; sort "
                                           "the jobs by submission");
    }
    pending_ = std::move(job);
  }

  Seconds next_time() {
    const std::optional<Seconds> event = state_.next_event();
    if (!event && !pending_) {
      throw Error(ErrorKind::BadInput, std::to_string(state_.waiting().size()) +
                                           " jobs wait and nothing can change that; the policy "
                                           "or the placement never gives them devices");
    }
    if (!event) return pending_->submit;
    return pending_ ? std::min(*event, pending_->submit) : *event;
  }

  // The one bound of the loops here: whatever else they wait for, jobs must come or end.
  void count_event() {
    if (++barren_ <= kMostBarren) return;
    const std::string since = format("no job has come or ended in %lld events up to %.6g s; ",
                                     static_cast<long long>(kMostBarren), state_.now().count());
    if (barren_failures_ > kMostBarren / 8) {
      throw Error(ErrorKind::BadInput,
                  since + format("nodes fail after %g s on average, before jobs get anywhere: "
                                 "resuming takes %g s, a checkpoint is made after %g s; raise "
                                 "--mtbf, or lower --restart-cost or --checkpoint-interval",
                                 options_.node_mtbf.count(), options_.costs.restart.count(),
                                 options_.costs.checkpoint.count()));
    }
    throw Error(ErrorKind::BadInput,
                since +
                    "the policy decides too often for jobs that last so long: raise --round or "
                    "--limits, or shorten the jobs");
  }

  void handle_events(Seconds now) {
    for (auto time = state_.next_event(); time && *time == now; time = state_.next_event()) {
      const Event event = state_.pop_event();
      count_event();
      switch (event.kind) {
        case Event::Kind::End:
          end(event.slot, now);
          break;
        case Event::Kind::Wake:
          if (event.slot >= 0) state_.wake(event.slot);
          break;
        case Event::Kind::Down:
          fail(event.slot, now);
          break;
        case Event::Kind::Up:
          state_.repair(event.slot);
          push_node(Event::Kind::Down, event.slot, failure_after(event.slot, now));
          break;
      }
    }
  }

  void arrive() {
    barren_ = barren_failures_ = 0;
    ++summary_.jobs;
    if (options_.drop_unfit && !state_.can_hold(*pending_)) {
      ++summary_.dropped;
    } else {
      state_.arrive(std::move(*pending_));
    }
    pending_->submit = state_.now();
    read_next();
  }

  void end(int slot, Seconds now) {
    barren_ = barren_failures_ = 0;
    const Active ended = state_.end(slot);
    const Seconds jct = now - ended.job.submit;
    const double alone = ended.timing.actual.count();
    ++summary_.completed;
    summary_.jct.add(jct.count());
    summary_.queue.add(std::max(0.0, (jct - ended.ran).count()));
    summary_.slowdown.add(alone > 0 ? jct.count() / alone : 1);
    slowdown_squares_ += alone > 0 ? jct.count() / alone * (jct.count() / alone) : 1;
    summary_.preemptions += ended.preemptions;
    summary_.failures += ended.failures;
    summary_.late += ended.job.deadline && jct > *ended.job.deadline ? 1 : 0;
    summary_.work_device_seconds += alone * ended.job.devices;
    last_end_ = now;
    if (watch_.on_ended) watch_.on_ended(ended, now);
  }

  // ---- failures
  Seconds time_to_failure() { return random_.exponential(options_.node_mtbf); }

  void push_node(Event::Kind kind, int node, Seconds time) {
    state_.push_event({time, kind, node, node, 0});
  }

  void plan_failures() {
    if (options_.node_mtbf <= Seconds{0}) return;
    for (int node = 0; node < state_.nodes().size(); ++node) {
      push_node(Event::Kind::Down, node, first_submit_ + time_to_failure());
    }
  }

  // What a node has been told, else as ever.
  Seconds failure_after(int node, Seconds now) {
    const auto told = told_.find(node);
    if (told == told_.end()) return now + time_to_failure();
    const Seconds time = told->second;
    told_.erase(told);
    return time;
  }

  // Nodes that fail while there is no job for years matter to nobody: when the next one comes, each
  // is down with the share of the time that it is down in the long run, since some time within the
  // repair, or up, and then fails as ever, as exponential times have no memory.
  void leave_out_idle_failures() {
    if (options_.node_mtbf <= Seconds{0} || !pending_ || !state_.idle()) return;
    const Seconds cycle = options_.node_mtbf + options_.repair;
    if (left_out_until_ == pending_->submit) return;
    if (pending_->submit - state_.now() < kForgotten * cycle) return;
    left_out_until_ = pending_->submit;
    std::vector<Event> others;
    while (state_.next_event()) {
      const Event event = state_.pop_event();
      if (event.kind != Event::Kind::Down) others.push_back(event);
    }
    for (const Event& event : others) state_.push_event(event);
    for (int node = 0; node < state_.nodes().size(); ++node) {
      const bool down = random_.uniform() * cycle < options_.repair;
      const Seconds time =
          pending_->submit + (down ? -options_.repair * random_.uniform() : time_to_failure());
      if (state_.nodes().is_up(node)) {
        push_node(Event::Kind::Down, node, time);
      } else {
        told_[node] = time;
      }
    }
  }

  void fail(int node, Seconds now) {
    ++barren_failures_;
    state_.fail(node);
    push_node(Event::Kind::Up, node, now + options_.repair);
  }

  Summary finish() {
    const auto count = static_cast<double>(summary_.slowdown.count());
    const double mean = summary_.slowdown.mean();
    if (count > 0) summary_.fairness = mean * mean * count / slowdown_squares_;
    summary_.makespan = last_end_ - first_submit_;
    summary_.held_device_seconds = state_.busy_device_seconds();
    double devices = 0;
    for (int pool = 0; pool < state_.nodes().pools(); ++pool) devices += state_.nodes().built(pool);
    const double all = devices * summary_.makespan.count();
    summary_.device_utilisation = all > 0 ? summary_.held_device_seconds / all : 0;
    return std::move(summary_);
  }

  const JobSource& source_;
  const Options& options_;
  const Watch& watch_;
  State state_;
  Random random_{options_.seed};
  std::optional<Job> pending_;  // the next to arrive
  Seconds first_submit_{0};
  Seconds last_end_{0};
  Seconds left_out_until_{-1};   // a submission before which idle nodes' failures were left out
  std::map<int, Seconds> told_;  // when nodes that were down then fail next
  double slowdown_squares_ = 0;
  std::int64_t barren_ = 0;           // events since a job came or ended
  std::int64_t barren_failures_ = 0;  // of nodes, among them
  Summary summary_;
};

}  // namespace

Summary simulate(const JobSource& source, const hw::Cluster& cluster, const Policy& policy,
                 const Durations& durations, const Options& options, const Watch& watch) {
  return Simulation(source, cluster, policy, durations, options, watch).run();
}

Timing traced_duration(const Job& job, const Allocation& /*where*/) {
  if (!job.duration) {
    throw Error(ErrorKind::BadInput,
                "job '" + printable(job.name) + "' has neither a duration nor a request");
  }
  return {*job.duration, *job.duration, *job.duration, *job.duration, 0, 0};
}

}  // namespace foretrain::sched

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/state.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::sched {

State::State(const hw::Cluster& cluster, const Policy& policy, Durations durations, Place place,
             const Costs& costs, const Observer& observer)
    : nodes_(cluster),
      policy_(policy),
      durations_(std::move(durations)),
      place_(place),
      costs_(costs),
      observer_(observer),
      network_(cluster) {
  largest_first_.resize(static_cast<std::size_t>(nodes_.pools()));
  for (int node = 0; node < nodes_.size(); ++node) {
    largest_first_[static_cast<std::size_t>(nodes_.pool_of(node))].push_back(node);
  }
  for (std::vector<int>& pool : largest_first_) {
    std::stable_sort(pool.begin(), pool.end(), [&](int a, int b) {
      return cluster.nodes[static_cast<std::size_t>(a)].devices >
             cluster.nodes[static_cast<std::size_t>(b)].devices;
    });
  }
}

void State::tell(Happening what, const Active* active, int node) const {
  if (observer_.on_event) observer_.on_event(what, now_, active, node);
}

// The fewest nodes of the pool, whoever is on them now.
Allocation State::alone(int pool, int devices) const {
  Allocation result{pool, {}};
  for (const int node : largest_first_[static_cast<std::size_t>(pool)]) {
    const int size = nodes_.cluster().nodes[static_cast<std::size_t>(node)].devices;
    result.shares.push_back({node, std::min(devices, size)});
    devices -= result.shares.back().devices;
    if (devices == 0) break;
  }
  return result;
}

Timing State::timing_alone(const Job& job, int pool) const {
  return durations_(job, alone(pool, job.devices));
}

void State::arrive(Job job) {
  int slot = static_cast<int>(jobs_.size());
  if (free_slots_.empty()) {
    jobs_.push_back(std::make_unique<Active>());
    position_.push_back(0);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Active& active = at(slot);
  const std::uint32_t generation = active.generation;
  active = Active{};
  active.generation = generation + 1;
  active.job = std::move(job);
  choose_pools(active);
  active.settled = now_;
  active.wait_class = waiting_.class_of(active.job.devices, active.pools);
  tell(Happening::Submit, &active);
  enqueue(slot);
}

bool State::fits_pool(const Job& job, int pool) const {
  return (job.device.empty() || job.device == nodes_.type(pool)) &&
         job.devices <= nodes_.built(pool);
}

bool State::can_hold(const Job& job) const {
  for (int pool = 0; pool < nodes_.pools(); ++pool) {
    if (fits_pool(job, pool)) return true;
  }
  return false;
}

// The pools that can hold the job, the fastest first.
void State::choose_pools(Active& active) const {
  const Job& job = active.job;
  std::vector<std::pair<Timing, int>> fitting;
  for (int pool = 0; pool < nodes_.pools(); ++pool) {
    if (fits_pool(job, pool)) fitting.emplace_back(timing_alone(job, pool), pool);
  }
  if (fitting.empty()) {
    const std::string wanted = job.device.empty() ? "one type" : "type " + printable(job.device);
    throw Error(ErrorKind::BadInput,
                "job '" + printable(job.name) + "' needs " + std::to_string(job.devices) +
                    " devices of " + wanted +
                    ", which the cluster does not have; make it larger or leave such jobs out "
                    "with --drop-unfit");
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) {
    return a.first.predicted < b.first.predicted;
  });
  for (const auto& [timing, pool] : fitting) active.pools.push_back(pool);
  active.timing = fitting.front().first;
}

void State::enqueue(int slot) {
  Active& active = at(slot);
  active.key = {policy_.rank ? policy_.rank(active) : 0, 0, active.job.id};
  waiting_.insert(active.wait_class, active.key, slot);
  if (policy_.queued) policy_.queued(*this, slot);
}

void State::set_key(int slot, double rank, std::int64_t tie) {
  Active& active = at(slot);
  if (!active.running) {
    waiting_.erase(active.wait_class, active.key, slot);
    active.key = {rank, 0, tie};
    waiting_.insert(active.wait_class, active.key, slot);
    return;
  }
  const double slope = active.key.slope;
  if (policy_.stops_jobs) running_.erase(active.where.pool, active.job.devices, active.key, slot);
  active.key = {rank + slope * now_.count(), slope, tie};
  if (policy_.stops_jobs) running_.insert(active.where.pool, active.job.devices, active.key, slot);
}

// Where it stood while it waited, from now on falling with its slope.
void State::rank_running(int slot) {
  Active& active = at(slot);
  const double slope = policy_.slope ? policy_.slope(active) : 0;
  active.key = {value_of(active.key, now_) + slope * now_.count(), slope, active.key.tie};
  if (policy_.stops_jobs) running_.insert(active.where.pool, active.job.devices, active.key, slot);
}

bool State::start(int slot) {
  if (undo_stop(slot)) return true;
  for (const int pool : job(slot).pools) {
    if (start(slot, pool)) return true;
  }
  return false;
}

bool State::start(int slot, int pool) {
  Active& active = at(slot);
  assert(!active.running);
  if (nodes_.free(pool) < active.job.devices) return false;
  if (active.stopping && active.where.pool == pool && undo_stop(slot)) return true;
  std::optional<Allocation> place = place_(nodes_, pool, active.job.devices);
  if (!place) return false;
  if (active.stopping) finish_stop(slot);
  begin(slot, std::move(*place));
  return true;
}

void State::begin(int slot, Allocation where) {
  Active& active = at(slot);
  waiting_.erase(active.wait_class, active.key, slot);
  nodes_.take(where);
  active.where = std::move(where);
  active.running = true;
  const Timing timing = durations_(active.job, active.where);
  if (timing.actual != active.timing.actual) {  // the same share of the work is done
    active.done *= active.timing.actual.count() > 0 ? timing.actual / active.timing.actual : 1;
  }
  active.timing = timing;
  active.settled = now_;
  active.resumes = active.first_start ? now_ + costs_.restart : now_;
  if (!active.first_start) active.first_start = now_;
  position_[static_cast<std::size_t>(slot)] = static_cast<int>(running_slots_.size());
  running_slots_.push_back(slot);
  network_.add(slot, active.where, active.timing);
  active.speed = network_.speed(active.where, active.timing);
  rank_running(slot);
  schedule(slot);
  if (policy_.wake_after) wake_later(slot);
  started_.push_back(slot);
}

// When the job ends if nothing disturbs it. Older events of the job become void.
void State::schedule(int slot) {
  Active& active = at(slot);
  const Seconds from = std::max(now_, active.resumes);
  const Seconds rest = active.timing.actual - active.done;
  const Seconds end = from + (active.speed == 1 ? rest : rest / active.speed);
  events_.push({std::max(end, now_), Event::Kind::End, active.job.id, slot, ++active.generation});
}

void State::wake_later(int slot) {
  const Active& active = job(slot);
  const std::optional<Seconds> delay = policy_.wake_after(active);
  if (!delay) return;
  events_.push({now_ + *delay, Event::Kind::Wake, active.job.id, slot, active.generation});
}

void State::bring_up_to_date(int slot) {
  Active& active = at(slot);
  if (!active.running) return;
  const Seconds from = std::max(active.settled, active.resumes);
  if (now_ > from) active.done += (now_ - from) * active.speed;
  active.ran += now_ - active.settled;
  busy_ += (now_ - active.settled).count() * active.job.devices;
  active.settled = now_;
}

// Takes a running job off its devices; `where` still says which they were.
void State::release(int slot) {
  Active& active = at(slot);
  bring_up_to_date(slot);
  if (policy_.stops_jobs) running_.erase(active.where.pool, active.job.devices, active.key, slot);
  network_.remove(slot, active.where, active.timing);
  nodes_.give(active.where);
  const int last = running_slots_.back();
  const int place = position_[static_cast<std::size_t>(slot)];
  running_slots_[static_cast<std::size_t>(place)] = last;
  position_[static_cast<std::size_t>(last)] = place;
  running_slots_.pop_back();
  active.running = false;
}

void State::stop(int slot) {
  assert(job(slot).running);
  release(slot);
  Active& active = at(slot);
  active.stopping = true;
  stopped_.push_back(slot);
  enqueue(slot);
}

// The devices of a job that this decision stopped may still be free: then nothing happened.
bool State::undo_stop(int slot) {
  Active& active = at(slot);
  if (!active.stopping) return false;
  for (const Share& share : active.where.shares) {
    if (nodes_.free_of(share.node) < share.devices) return false;
  }
  active.stopping = false;
  waiting_.erase(active.wait_class, active.key, slot);
  nodes_.take(active.where);
  active.running = true;
  position_[static_cast<std::size_t>(slot)] = static_cast<int>(running_slots_.size());
  running_slots_.push_back(slot);
  network_.add(slot, active.where, active.timing);
  rank_running(slot);
  return true;
}

void State::finish_stop(int slot) {
  Active& active = at(slot);
  active.stopping = false;
  ++active.preemptions;
  ++active.generation;
  tell(Happening::Stop, &active);
}

void State::decide() {
  policy_.decide(*this);
  for (const int slot : stopped_) {
    if (job(slot).stopping) finish_stop(slot);
  }
  stopped_.clear();
  for (const int slot : started_) tell(Happening::Start, &job(slot));
  started_.clear();
  for (const int slot : network_.take_touched()) {
    const double speed = network_.speed(job(slot).where, job(slot).timing);
    if (speed == job(slot).speed) continue;
    bring_up_to_date(slot);
    at(slot).speed = speed;
    schedule(slot);
    if (policy_.wake_after) wake_later(slot);
  }
}

void State::wake(int slot) {
  bring_up_to_date(slot);
  policy_.woken(*this, slot);
  wake_later(slot);
}

Active State::end(int slot) {
  Active& active = at(slot);
  release(slot);
  ++active.generation;
  tell(Happening::End, &active);
  free_slots_.push_back(slot);
  Active ended = std::exchange(active, Active{});
  active.job.id = -1;  // nobody's
  active.generation = ended.generation;
  return ended;
}

}  // namespace foretrain::sched

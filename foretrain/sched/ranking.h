// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::sched {

// Where a job stands: less goes first. The rank of a running job may fall with time, at a
// `slope` that is the same for all jobs of one size: value = offset - slope now. Among equal
// values the one that falls more slowly was ahead before and stays ahead; then the lower `tie`.
struct Key {
  double offset = 0;
  double slope = 0;
  std::int64_t tie = 0;
};

inline double value_of(const Key& key, Seconds now) { return key.offset - key.slope * now.count(); }

inline bool ahead(const Key& a, const Key& b, Seconds now) {
  return std::make_tuple(value_of(a, now), a.slope, a.tie) <
         std::make_tuple(value_of(b, now), b.slope, b.tie);
}

// A job in one of the orders.
struct Entry {
  double offset = 0;
  std::int64_t tie = 0;
  int slot = 0;  // State::job
};
struct Earlier {
  bool operator()(const Entry& a, const Entry& b) const {
    return std::tie(a.offset, a.tie, a.slot) < std::tie(b.offset, b.tie, b.slot);
  }
};

// Jobs that wait and ask for the same: if one does not fit, none behind it does.
struct WaitingClass {
  int devices = 0;
  std::vector<int> pools;  // where they may run, best first
  std::set<Entry, Earlier> jobs;
};

// Waiting jobs by class, each class in order.
class Waiting {
 public:
  int class_of(int devices, const std::vector<int>& pools);  // made where it is new
  void insert(int in_class, const Key& key, int slot);
  void erase(int in_class, const Key& key, int slot);

  const std::vector<WaitingClass>& classes() const { return classes_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::vector<WaitingClass> classes_;
  std::map<std::pair<int, std::vector<int>>, int> index_;
  std::size_t size_ = 0;
};

// Running jobs of each pool in order, with the devices that those ahead of a key use.
class Running {
 public:
  Running();
  ~Running();
  Running(Running&&) noexcept;
  Running& operator=(Running&&) noexcept;

  void insert(int pool, int devices, const Key& key, int slot);
  void erase(int pool, int devices, const Key& key, int slot);
  int used(int pool) const;  // devices of all

  // Devices of the pool used by the jobs ahead of `key`.
  int used_ahead(int pool, const Key& key, Seconds now) const;

  // Where the pool's jobs, taken in order, first exceed `devices`: that job. Takes time in
  // proportion to the jobs behind it.
  std::optional<int> first_beyond(int pool, int devices, Seconds now) const;

 private:
  struct Groups;  // by pool, size of job and slope
  std::unique_ptr<Groups> groups_;
};

}  // namespace foretrain::sched

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/ranking.h"

#include <cassert>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

namespace foretrain::sched {
namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// A set that counts what lies before a key in logarithmic time.
using Order = __gnu_pbds::tree<Entry, __gnu_pbds::null_type, Earlier, __gnu_pbds::rb_tree_tag,
                               __gnu_pbds::tree_order_statistics_node_update>;

}  // namespace

int Waiting::class_of(int devices, const std::vector<int>& pools) {
  const auto [place, added] =
      index_.try_emplace({devices, pools}, static_cast<int>(classes_.size()));
  if (added) classes_.push_back({devices, pools, {}});
  return place->second;
}

void Waiting::insert(int in_class, const Key& key, int slot) {
  assert(key.slope == 0);
  classes_[static_cast<std::size_t>(in_class)].jobs.insert({key.offset, key.tie, slot});
  ++size_;
}

void Waiting::erase(int in_class, const Key& key, int slot) {
  [[maybe_unused]] const auto gone =
      classes_[static_cast<std::size_t>(in_class)].jobs.erase({key.offset, key.tie, slot});
  assert(gone == 1);
  --size_;
}

// Jobs of one size and slope in one pool: their order does not change with time.
struct Group {
  int devices = 0;
  double slope = 0;
  Order order;

  // How many are ahead of `key`.
  std::size_t ahead_of(const Key& key, Seconds now) const {
    const double offset = value_of(key, now) + slope * now.count();
    const std::int64_t tie = slope < key.slope ? kLast : slope > key.slope ? kFirst : key.tie;
    return order.order_of_key({offset, tie, 0});
  }
};

struct Running::Groups {
  struct Pool {
    int used = 0;
    std::map<std::pair<int, double>, Group> by_kind;  // devices, slope
  };
  std::vector<Pool> pools;

  Pool& at(int pool) {
    const auto index = static_cast<std::size_t>(pool);
    if (pools.size() <= index) pools.resize(index + 1);
    return pools[index];
  }
};

Running::Running() : groups_(std::make_unique<Groups>()) {}
Running::~Running() = default;
Running::Running(Running&&) noexcept = default;
Running& Running::operator=(Running&&) noexcept = default;

void Running::insert(int pool, int devices, const Key& key, int slot) {
  Groups::Pool& home = groups_->at(pool);
  Group& group = home.by_kind[{devices, key.slope}];
  group.devices = devices;
  group.slope = key.slope;
  group.order.insert({key.offset, key.tie, slot});
  home.used += devices;
}

void Running::erase(int pool, int devices, const Key& key, int slot) {
  Groups::Pool& home = groups_->at(pool);
  const auto group = home.by_kind.find({devices, key.slope});
  assert(group != home.by_kind.end());
  [[maybe_unused]] const bool gone = group->second.order.erase(Entry{key.offset, key.tie, slot});
  assert(gone);
  if (group->second.order.empty()) home.by_kind.erase(group);
  home.used -= devices;
}

int Running::used(int pool) const { return groups_->at(pool).used; }

int Running::used_ahead(int pool, const Key& key, Seconds now) const {
  int used = 0;
  for (const auto& [kind, group] : groups_->at(pool).by_kind) {
    used += group.devices * static_cast<int>(group.ahead_of(key, now));
  }
  return used;
}

std::optional<int> Running::first_beyond(int pool, int devices, Seconds now) const {
  const Groups::Pool& home = groups_->at(pool);
  if (home.used <= devices) return std::nullopt;
  struct Tail {
    const Group* group;
    Order::const_reverse_iterator next;
  };
  std::vector<Tail> tails;
  for (const auto& [kind, group] : home.by_kind) tails.push_back({&group, group.order.rbegin()});
  const auto key_of = [](const Tail& tail) {
    return Key{tail.next->offset, tail.group->slope, tail.next->tie};
  };
  int used = home.used;
  while (true) {
    Tail* last = nullptr;  // the job that is furthest back of those not looked at
    for (Tail& tail : tails) {
      if (tail.next == tail.group->order.rend()) continue;
      if (last == nullptr || ahead(key_of(*last), key_of(tail), now)) last = &tail;
    }
    if (last == nullptr) return std::nullopt;
    used -= last->group->devices;
    if (used <= devices) return last->next->slot;
    ++last->next;
  }
}

}  // namespace foretrain::sched

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/placement.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::sched {
namespace {

using NodeSet = std::set<int>;

// Goes through the nodes of one group (same free devices) without taking any yet.
struct Cursor {
  const NodeSet* nodes;
  NodeSet::const_iterator next;
  int free;
  bool done() const { return next == nodes->end(); }
};

// The node with the fewest free devices that are still enough, if there is one.
std::optional<int> tightest(const Nodes& nodes, int pool, int devices) {
  for (int free = devices; free <= nodes.largest_node(pool); ++free) {
    const NodeSet& fitting = nodes.with_free(pool, free);
    if (!fitting.empty()) return *fitting.begin();
  }
  return std::nullopt;
}

Allocation on_one(int pool, int node, int devices) { return {pool, {{node, devices}}}; }

// The emptiest nodes whole while more than one is needed, then the tightest for the rest.
Allocation pack(const Nodes& nodes, int pool, int devices) {
  Allocation result{pool, {}};
  const auto is_taken = [&](int node) {
    return std::any_of(result.shares.begin(), result.shares.end(),
                       [&](const Share& share) { return share.node == node; });
  };
  for (int free = nodes.largest_node(pool); free > 0; --free) {
    for (const int emptiest : nodes.with_free(pool, free)) {
      if (devices > free) {
        result.shares.push_back({emptiest, free});
        devices -= free;
        continue;
      }
      for (int enough = devices; enough <= free; ++enough) {
        for (const int node : nodes.with_free(pool, enough)) {
          if (is_taken(node)) continue;
          result.shares.push_back({node, devices});
          return result;
        }
      }
    }
  }
  assert(false && "the pool has fewer free devices than were promised");
  return result;
}

}  // namespace

std::optional<Allocation> place_anywhere(const Nodes& nodes, int pool, int devices) {
  std::vector<Cursor> cursors;
  for (int free = 1; free <= nodes.largest_node(pool); ++free) {
    const NodeSet& group = nodes.with_free(pool, free);
    if (!group.empty()) cursors.push_back({&group, group.begin(), free});
  }
  Allocation result{pool, {}};
  while (devices > 0) {
    Cursor* first = nullptr;
    for (Cursor& cursor : cursors) {
      if (!cursor.done() && (first == nullptr || *cursor.next < *first->next)) first = &cursor;
    }
    if (first == nullptr) return std::nullopt;
    const int taken = std::min(devices, first->free);
    result.shares.push_back({*first->next++, taken});
    devices -= taken;
  }
  return result;
}

std::optional<Allocation> place_best_fit(const Nodes& nodes, int pool, int devices) {
  if (const auto node = tightest(nodes, pool, devices)) return on_one(pool, *node, devices);
  return pack(nodes, pool, devices);
}

std::optional<Allocation> place_consolidated(const Nodes& nodes, int pool, int devices) {
  const int largest = nodes.largest_node(pool);
  const auto fewest = static_cast<std::size_t>((devices + largest - 1) / largest);
  auto best = place_best_fit(nodes, pool, devices);
  if (best->shares.size() > fewest) return std::nullopt;
  return best;
}

std::optional<Allocation> place_spread(const Nodes& nodes, int pool, int devices) {
  Allocation result{pool, {}};
  for (int free = nodes.largest_node(pool); free > 0; --free) {
    for (const int node : nodes.with_free(pool, free)) {
      if (static_cast<int>(result.shares.size()) == devices) break;
      result.shares.push_back({node, 0});
    }
  }
  while (devices > 0) {
    for (Share& share : result.shares) {
      if (devices == 0 || share.devices == nodes.free_of(share.node)) continue;
      ++share.devices;
      --devices;
    }
  }
  return result;
}

std::optional<Allocation> place_by_topology(const Nodes& nodes, int pool, int devices) {
  if (const auto node = tightest(nodes, pool, devices)) return on_one(pool, *node, devices);
  std::vector<Share> candidates;  // all that is free, emptiest node first
  for (int free = nodes.largest_node(pool); free > 0; --free) {
    for (const int node : nodes.with_free(pool, free)) candidates.push_back({node, free});
  }
  const auto rack_of = [&](const Share& share) {
    return nodes.cluster().nodes[static_cast<std::size_t>(share.node)].rack;
  };
  std::map<int, int> free_of_rack;
  for (const Share& share : candidates) free_of_rack[rack_of(share)] += share.devices;
  // Racks that are enough alone come first, the tightest at the front; then the emptiest.
  const auto order = [&](const Share& share) {
    const int free = free_of_rack[rack_of(share)];
    return std::make_tuple(free < devices, free < devices ? -free : free, rack_of(share));
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Share& a, const Share& b) { return order(a) < order(b); });
  Allocation result{pool, {}};
  for (const Share& share : candidates) {
    result.shares.push_back({share.node, std::min(devices, share.devices)});
    devices -= result.shares.back().devices;
    if (devices == 0) break;
  }
  return result;
}

const std::vector<Placement>& placements() {
  static const std::vector<Placement> table = {
      {"anywhere", "the first free devices by node number", place_anywhere},
      {"best-fit", "the fewest nodes, and of those the fullest", place_best_fit},
      {"consolidated", "waits until the fewest possible nodes are enough", place_consolidated},
      {"spread", "over as many nodes as there are", place_spread},
      {"topology", "one node, else one rack, else the emptiest racks", place_by_topology},
  };
  return table;
}

const Placement& find_placement(std::string_view name) {
  std::vector<std::string> known;
  std::string list;
  for (const Placement& placement : placements()) {
    if (placement.name == name) return placement;
    known.emplace_back(placement.name);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  throw Error(ErrorKind::NotFound, "no placement is called '" + printable(name) + "'" +
                                       did_you_mean(name, known) + "; it must be one of " + list);
}

}  // namespace foretrain::sched

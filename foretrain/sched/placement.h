// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/sched/nodes.h"

namespace foretrain::sched {

// Chooses nodes for `devices` devices of a pool that has that many free; nothing where a
// placement would rather wait than take what is there. Ties go to the lower node number.
using Place = std::optional<Allocation> (*)(const Nodes& nodes, int pool, int devices);

struct Placement {
  std::string_view name;
  std::string_view meaning;
  Place place;
};

// The first free devices by node number.
std::optional<Allocation> place_anywhere(const Nodes& nodes, int pool, int devices);

// The node whose free devices it leaves fewest of; where one node is not enough, the emptiest
// nodes whole and then the best fit for the rest. Never waits.
std::optional<Allocation> place_best_fit(const Nodes& nodes, int pool, int devices);

// As best fit, but waits until the job is on as few nodes as the pool's node size allows.
std::optional<Allocation> place_consolidated(const Nodes& nodes, int pool, int devices);

// One device on each of the emptiest nodes, then a second one, and so on.
std::optional<Allocation> place_spread(const Nodes& nodes, int pool, int devices);

// One node where that is enough, by best fit; else inside the rack that has the fewest free
// devices that are enough; else over racks, those with most free devices first.
std::optional<Allocation> place_by_topology(const Nodes& nodes, int pool, int devices);

const std::vector<Placement>& placements();

// Throws Error(NotFound), listing near matches.
const Placement& find_placement(std::string_view name);

}  // namespace foretrain::sched

// SPDX-License-Identifier: Apache-2.0
// Times of single operators and collectives on this machine, by PyTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/lab/workers.h"
#include "foretrain/store/rows.h"

namespace foretrain::lab {

struct OperatorPlan {
  std::vector<std::string> models{};    // whose operators are timed
  std::vector<std::int64_t> batches{};  // at each of these
  // Operators as lines of JSON: {"op": "linear", "shapes": [[8, 64], [32, 64]], "types": ["f32",
  // "f32"], "attributes": {}}. Empty lines do not count.
  std::string lines{};
  Seconds least_time{0.05};  // of each operator and direction
  int least_repeats = 5;
  double most_elements = 1e9;  // of one operator's inputs together
};

struct CollectivePlan {
  std::vector<std::string> kinds{"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                 "point_to_point"};
  std::vector<std::int64_t> sizes{};  // bytes
  int ranks = 2;
  std::string network{};  // as in a campaign: "1gbps"; "": links are not shaped
  Seconds least_time{0.5};
  int least_repeats = 5;
};

// A part of a plan that is done: a few operators, or all sizes of one collective. The first has no
// rows: it says that the workers are there.
template <typename Row>
struct Part {
  const store::Machine& machine;
  std::span<const Row> rows;
  double share = 0;  // of the whole plan that is done
};

template <typename Row>
using OnPart = std::function<void(const Part<Row>&)>;

template <typename Row>
struct Timings {
  store::Machine machine{};
  std::vector<Row> rows{};
  std::vector<std::string> skipped{};  // what could not be timed, and why
};

// On hosts of this machine, alone there. An operator that several models have is timed once. Throw
// Error: BadInput for a plan that is not well-formed, Io where another lab runs.
Timings<store::Operator> time_operators(const OperatorPlan& plan, const WorkerOptions& options,
                                        bool isolated, const OnPart<store::Operator>& on_part);
Timings<store::Collective> time_collectives(const CollectivePlan& plan,
                                            const WorkerOptions& options, bool isolated,
                                            const OnPart<store::Collective>& on_part);

// The same on given hosts: the first one, and one for each rank.
Timings<store::Operator> time_operators(const OperatorPlan& plan, const WorkerOptions& options,
                                        Hosts& hosts, const OnPart<store::Operator>& on_part);
Timings<store::Collective> time_collectives(const CollectivePlan& plan,
                                            const WorkerOptions& options, Hosts& hosts,
                                            const OnPart<store::Collective>& on_part);

}  // namespace foretrain::lab

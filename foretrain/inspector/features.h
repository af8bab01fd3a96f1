// SPDX-License-Identifier: Apache-2.0
// What a learned model of resource use sees of a job: numbers of the graph, of the setting, of the
// operator engine's prediction and of its replay.
#pragma once

#include <string>
#include <vector>

#include "foretrain/inspector/replay.h"

namespace foretrain::inspector {

// Numbers with their names; counts and times as logarithms.
struct Features {
  std::vector<std::string> names{};
  std::vector<double> values{};

  void add(std::string name, double value) {
    names.push_back(std::move(name));
    values.push_back(value);
  }
};

// A hundred at most; the same names in the same order for every job.
enum class FeatureSet {
  Graph,    // graph and setting alone: no physics
  Physics,  // and what the operator engine predicts, with the replay
};

Features features_of(const operators::Stages& stages, const Resolved& resolved, Role role,
                     const std::array<Replayed, kResources.size()>& replayed, FeatureSet set);

}  // namespace foretrain::inspector

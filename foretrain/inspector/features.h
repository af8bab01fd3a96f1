// SPDX-License-Identifier: Apache-2.0
// What a learned model of resource use sees of a job: numbers of the graph, of the setting, of the
// operator engine's prediction and of its replay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foretrain/inspector/replay.h"

namespace foretrain::inspector {

// Numbers with their names; counts and times as logarithms.
struct Features {
  std::vector<std::string> names{};
  std::vector<double> values{};
  std::size_t without_physics = 0;  // so many at the beginning tell of graph and setting alone
  std::size_t whole_job = 0;        // from here on: of the setting and of what is predicted

  void add(std::string name, double value) {
    names.push_back(std::move(name));
    values.push_back(value);
  }
};

// A hundred and some; the same names in the same order for every job.
Features features_of(const operators::Stages& stages, const Resolved& resolved, Role role,
                     const std::array<Replayed, kResources.size()>& replayed);

// How the logarithm of what physics says of a number is called among the features, and of the
// step; "" for a number that has none.
std::string physics_feature(const resource::UseName& use);
inline constexpr std::string_view kStepFeature = "log_step";
inline constexpr std::string_view kStepTime = "step_time_s";  // the step among the targets

}  // namespace foretrain::inspector

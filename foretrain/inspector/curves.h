// SPDX-License-Identifier: Apache-2.0
// How one step uses the resources, read off the operator engine's timeline.
#pragma once

#include <array>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/operators/stages.h"
#include "foretrain/resource/bursts.h"
#include "foretrain/resource/kinds.h"
#include "foretrain/resource/levels.h"

namespace foretrain::inspector {

using resource::kResources;
using resource::Resource;
using resource::Role;

// One resource over one step: levels in the order of their beginnings, in the unit of the report.
struct Curve {
  std::vector<resource::Level> levels{};
  resource::SplitOptions split{};  // window, smoothing and scale, as it is measured
};

// All resources of one role over a step that repeats every `period`.
struct StepCurves {
  Seconds period{0};
  std::array<Curve, kResources.size()> of{};
};

// Of the slowest worker, or of the busiest server; a server computes while it updates.
StepCurves curves_of(const operators::Stages& stages, const Resolved& resolved, Role role);

}  // namespace foretrain::inspector

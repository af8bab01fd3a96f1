// SPDX-License-Identifier: Apache-2.0
// The inspector engine: how a job uses device, memory and network, learned from measured runs;
// after Driple (SIGMETRICS 2022), as a correction of the operator engine's timeline.
#pragma once

#include "foretrain/engine/engine.h"

namespace foretrain::inspector {

class InspectorEngine : public Engine {
 public:
  std::string_view name() const override { return "inspector"; }
  // Nothing without an inspector, or where the job is unlike those that it learned from. Throws
  // Error(BadInput) where the inspector knows other features than this program.
  std::optional<Answer> answer(const Question& question) const override;
};

}  // namespace foretrain::inspector

// SPDX-License-Identifier: Apache-2.0
// The operator engine: computation, memory access and communication, operator by operator, after
// DeletePop (ICA3PP 2023).
#pragma once

#include <string>
#include <vector>

#include "foretrain/knowledge/regime.h"
#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// What the engine knows of a step besides the numbers that other engines can tell, too.
struct StepDetail {
  Estimate step;
  Breakdown breakdown;
  Phases phases;
  Seconds communication{0};
  MemoryReport memory;
  ResourcesReport resources;
  std::vector<OperatorReport> top_operators;
  Regime regime;
  double sent_bytes = 0;  // by the busiest worker's node
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;
};

// Of a question, worked out once.
const StepDetail& detail_of(const Question& question);

class OperatorEngine : public Engine {
 public:
  std::string_view name() const override { return "operators"; }
  std::optional<Answer> answer(const Question& question) const override;
};

}  // namespace foretrain::operators

// SPDX-License-Identifier: Apache-2.0
// The operator engine: computation, memory access and communication, operator by operator, after
// DeletePop (ICA3PP 2023).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/engine/engine.h"
#include "foretrain/knowledge/regime.h"

namespace foretrain::operators {

// What the engine knows of a step besides the numbers that other engines can tell, too.
struct StepDetail {
  std::string model;             // the graph's own name, without parameters
  std::int64_t parameters = 0;   // learned values
  double tokens_per_sample = 0;  // 0: the model does not read tokens
  double gemm_flops = 0;  // of one worker's step: GEMMs and convolutions; as fp32 where in TF32
  Estimate step;
  bool inside = true;  // of what was measured
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
  std::vector<std::string> step_warnings;  // of this engine's step alone
};

// Of a question, worked out once.
const StepDetail& detail_of(const Question& question);

class OperatorEngine : public Engine {
 public:
  std::string_view name() const override { return "operators"; }
  std::optional<Answer> answer(const Question& question) const override;
};

}  // namespace foretrain::operators

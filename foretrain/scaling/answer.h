// SPDX-License-Identifier: Apache-2.0
// The scaling engine: the time of a workload whose own runs were measured, at other workers, nodes,
// batches, samples or cores; after the performance models for Ray (SEAA 2023) and Ernest (NSDI
// 2016).
#pragma once

#include "foretrain/engine/engine.h"

namespace foretrain::scaling {

class ScalingEngine : public Engine {
 public:
  std::string_view name() const override { return "scaling"; }
  // Nothing without a scaling model, for a workload that it does not know, or where the request
  // does not say what it needs, such as the samples. Outside of the measured ranges the answer says
  // so.
  std::optional<Answer> answer(const Question& question) const override;
};

}  // namespace foretrain::scaling

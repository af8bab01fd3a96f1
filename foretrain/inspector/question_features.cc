// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/question_features.h"

#include <algorithm>

#include "foretrain/inspector/detail/families.h"
#include "foretrain/operators/answer.h"

namespace foretrain::inspector {
namespace {

double memory_bytes(const Question& question, Role role) {
  const MemoryReport& memory = operators::detail_of(question).memory;
  if (role == Role::Worker) return memory.peak;
  const auto servers = static_cast<double>(question.resolved().strategy.servers);
  return memory.framework +
         (memory.parameters + memory.gradients + memory.optimizer) / std::max(1.0, servers);
}

}  // namespace

Features question_features(const Question& question, Role role,
                           const std::array<Replayed, kResources.size()>& replayed) {
  Features features =
      features_of(operators::stages_of(question), question.resolved(), role, replayed);
  features.add(std::string(kMemoryFeature), log_of(memory_bytes(question, role)));
  return features;
}

}  // namespace foretrain::inspector

// SPDX-License-Identifier: Apache-2.0
// What the inspector learns from: measured jobs beside what is known of them before they run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/inspector/features.h"
#include "foretrain/inspector/network_input.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/resource_runs.h"
#include "foretrain/resource/kinds.h"

namespace foretrain::train {

// One role of one measured job.
struct InspectorExample {
  const measured::ResourceJob* job = nullptr;
  resource::Role role = resource::Role::Worker;
  inspector::Features features{};
  std::array<inspector::Replayed, resource::kResources.size()> replayed{};
  double predicted_step_s = 0;
  std::size_t machine = 0;  // of several that were measured; 0 is the one that predictions are for
  std::optional<inspector::StepGroups> groups{};  // where a grouping was asked for
};

// In the order of the jobs, which must outlive them; on so many threads (0: as many as the machine
// has). Throws Error as `predict` does.
std::vector<InspectorExample> inspector_examples(const std::vector<measured::ResourceJob>& jobs,
                                                 const Library& library, int threads = 0,
                                                 const std::optional<Grouping>& grouping = {});

// One line per example: what was measured and every feature.
std::string examples_csv(const std::vector<InspectorExample>& examples);

}  // namespace foretrain::train

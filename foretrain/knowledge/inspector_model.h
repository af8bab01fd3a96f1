// SPDX-License-Identifier: Apache-2.0
// How jobs use their resources, learned from measured runs: what `foretrain fit inspector` finds
// and the inspector engine uses. docs/models/inspector.md says how.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/knowledge/calibration.h"
#include "foretrain/knowledge/inspector_network.h"
#include "foretrain/learn/hybrid.h"

namespace foretrain {

// One number: its name below `resources` in the report ("worker.net_tx.burst_s"), or
// "step_time_s".
struct InspectorTarget {
  std::string name;
  learn::Hybrid model;
  // Ends of log(measured / predicted) on architectures that took no part in the fit.
  double low = 0;
  double high = 0;
  std::size_t examples = 0;  // that it was fitted on
};

// What a feature was in the runs that the model learned from.
struct FeatureRange {
  std::size_t feature = 0;
  double least = 0;
  double most = 0;
};

struct InspectorModel {
  std::vector<std::string> features;          // in the order in which the trees know them
  std::vector<InspectorTarget> targets;       // may be none where there is a network
  std::optional<InspectorNetwork> network{};  // answers the numbers that its outputs name
  std::string device;                         // a catalog's name without parameters, such as "cpu"
  std::vector<FeatureRange> domain;  // a request inside all of these is like what was measured
  double confidence = 0.9;           // of the intervals
  // Of the constants that its physics was predicted with (constants_in_use): with others its
  // corrections would be wrong.
  std::string constants;
  Calibration calibration;  // of the machine, which physics was predicted with
};

inline constexpr const char* kInspectorFormat = "foretrain-inspector";

// Throws Error(BadInput) naming `where`.
InspectorModel read_inspector(std::string_view text, const std::string& where);
std::string write_inspector(const InspectorModel& model, std::span<const std::string> notes);

}  // namespace foretrain

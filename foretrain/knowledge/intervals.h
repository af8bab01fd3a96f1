// SPDX-License-Identifier: Apache-2.0
// How far measured steps lie from predicted ones, and which cases were measured.
// `foretrain fit intervals` finds them, data/predictors/intervals.json
// has those in use, docs/models/intervals.md says how they are calibrated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/knowledge/spread.h"

namespace foretrain {

// Measurements that differ in workers and batch only.
struct MeasuredCase {
  std::string model;  // the zoo's name without its parameters
  std::string family;
  std::string device;  // without the size of its memory
  std::string architecture;
  std::string precision;
  std::string mode;
  std::string framework;
  std::string source;  // the file of data/evaluate/, which names the repository
  int least_workers = 1;
  int most_workers = 1;
  std::int64_t least_batch = 1;  // per worker
  std::int64_t most_batch = 1;
};

// Where one word for the length of a predicted step ends and the next begins.
struct LengthLimits {
  double tiny_s = 0;    // tiny below
  double short_s = 0;   // short below
  double medium_s = 0;  // medium below, long above
  std::string source;
};

// How unlike two cases are, when the nearest measured ones are looked for: the sum over what
// differs. Workers and batch count for each doubling outside of the measured range.
struct DistanceWeights {
  double family = 0;        // another family of models
  double model = 0;         // another model
  double architecture = 0;  // another architecture of devices
  double device = 0;        // another device
  double precision = 0;     // another precision
  double mode = 0;          // training against inference
  double framework = 0;     // another framework
  double workers = 0;       // each doubling of the workers
  double batch = 0;         // each doubling of the batch
  std::string source;
};

struct Intervals {
  double confidence = 0.9;
  Spread spread{};
  std::vector<MeasuredCase> measured;
  LengthLimits lengths{};
  DistanceWeights distance{};
};

inline constexpr const char* kIntervalsFormat = "foretrain-intervals";

// Throws Error(BadInput) naming `where`.
Intervals read_intervals(std::string_view text, const std::string& where);
std::string write_intervals(const Intervals& intervals, std::span<const std::string> notes);

// Whether a device that computes like this one is among the measured cases.
bool is_measured(const Intervals& intervals, std::string_view chip);

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/evaluate/cases.h"
#include "foretrain/measured/mapping.h"

namespace foretrain::evaluate {

// How well rows are predicted; a refused one counts as an error of 100 %. Errors are fractions.
struct WayScore {
  std::size_t cases = 0;    // refused ones among them
  std::size_t refused = 0;  // requests that cannot be answered
  double mape = 0;
  double median_ape = 0;
  double bias = 0;  // of what was predicted
};

// One source, scored three ways: by plain requests, which hold what the source states; informed,
// with what its mapping has fitted to these very rows; calibrated, plain requests beside a few of
// each model's own runs on the device, which are not scored.
struct SourceWays {
  std::string file;
  std::string metric;  // "": all steps, by their times or rates
  measured::Knobs knobs;
  std::optional<WayScore> plain;
  std::optional<WayScore> informed;
  std::optional<WayScore> calibrated;  // where rows are left to be scored
};

struct WaysOptions {
  Options evaluate;        // `informed`, `by` and `calibration` but for its `fit` do not matter
  std::size_t runs = 3;    // that calibrate a model on a device
  std::uint64_t seed = 1;  // by which they are drawn
  std::size_t most_groups =
      100;  // pairs of model and device of a file that are calibrated, drawn likewise
};

// Each file's steps first, then its metrics, in the order of names. Throws as evaluate().
std::vector<SourceWays> score_ways(const std::filesystem::path& data, const WaysOptions& options,
                                   const Library& library,
                                   const std::function<void(double)>& progress);

// One line of JSON; errors in percent.
std::string to_json(const std::vector<SourceWays>& sources);

}  // namespace foretrain::evaluate

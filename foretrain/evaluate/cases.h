// SPDX-License-Identifier: Apache-2.0
// Measurements beside their predictions, how they are grouped and scored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/evaluate/prediction_cache.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/knowledge/regime.h"
#include "foretrain/measured/measured_step.h"
#include "foretrain/predict/report.h"

namespace foretrain::evaluate {

// Unmapped: the mapping makes no request of the row. Refused: the prediction is an error.
// Calibration: its group was calibrated by this run, so it is not scored.
enum class Outcome { Predicted, Unmapped, Refused, Calibration };
const char* to_string(Outcome outcome);

// One measurement and what was predicted for it.
struct Case {
  std::string file;  // its name without ".csv"
  std::size_t line = 0;
  std::string source;
  std::string split;  // "test": a fit leaves it alone
  std::string model;  // the measurement's word
  std::string device;
  std::string precision;
  std::optional<std::int64_t> batch;  // per worker
  std::optional<int> workers;
  std::string metric;
  Outcome outcome = Outcome::Unmapped;
  std::string reason;   // why it was not predicted
  double measured = 0;  // SI; of predicted and refused rows
  double predicted = 0;
  double error = 0;  // predicted / measured - 1
  Breakdown breakdown;
  bool fits = true;     // said of predicted rows: what was measured did fit
  std::string request;  // JSON; "" where there is none
  // Of predicted rows:
  Regime regime;
  std::string zoo_model;   // without its parameters; "" of a file
  std::size_t number = 0;  // of measured::report_numbers(): what was measured
};

// How well a set of rows is predicted. Errors are fractions, see metrics.h.
struct Score {
  std::size_t rows = 0;
  std::size_t predicted = 0;
  std::size_t refused = 0;
  std::size_t not_fitting = 0;  // predicted rows of runs that are said not to fit their device
  double mape = 0;
  double median_ape = 0;
  double bias = 0;
  std::string worst_model;  // the one with the largest MAPE of those predicted
  double worst_mape = 0;
};

// Whether there is anything that the errors are means of.
inline bool has_errors(const Score& score) {
  return score.predicted > 0 || !score.worst_model.empty();
}

struct Group {
  std::vector<std::string> key;  // one text per Options::by
  Score score;
};

// Rows of a file that have no prediction for the same reason.
struct Reason {
  std::string file;
  std::string text;
  Outcome outcome = Outcome::Unmapped;
  std::size_t rows = 0;
  std::size_t first_line = 0;
};

struct IgnoredFile {
  std::string file;
  std::string reason;
};

struct CalibratedGroup {
  std::string file;
  std::vector<std::string> key;  // the device, then one text per CalibrationOptions::by
  std::size_t runs = 0;          // that it was calibrated by
  Calibration calibration;
};

struct Evaluation {
  std::vector<std::string> by;
  std::vector<Group> groups;
  std::vector<Group> files;  // one per file, the key is its name
  Score total;
  std::vector<Reason> reasons;  // most rows first
  std::vector<IgnoredFile> ignored;
  std::vector<CalibratedGroup> calibrated;
};

// The machine's factors from some of its measured steps, which run on one kind of device.
using Calibrate =
    std::function<Calibration(const std::vector<measured::MeasuredStep>&, const Library&)>;

// Rows of one file on one device that agree in all of `by` are one group. `rows` runs of it are
// given to `fit`, what it finds is used for the others, and the runs themselves are not scored.
struct CalibrationOptions {
  std::size_t rows = 0;               // 0: none
  std::vector<std::string> by;        // of group_keys()
  std::optional<std::uint64_t> seed;  // runs drawn by it; none: those that cover the group best
  std::size_t most_groups = 0;        // of a file, drawn by the seed; others are not scored; 0: all
  Calibrate fit;
};

struct Options {
  std::string source;          // only this file or this entry of the column `source`; "": all
  std::string request;         // what ran, as JSON, where `data` is a profiler's trace
  std::string models;          // the folder that relative names of model files are in; "": here
  bool informed = false;       // with what mappings have fitted to their sources, not facts alone
  bool count_refused = false;  // a refused row counts as an error of 100 %
  std::vector<std::string> by{"file", "device", "metric"};  // of group_keys()
  int threads = 0;                                          // 0: as many as the machine has
  CalibrationOptions calibration;
  // Predictions that were made elsewhere, by their request; where it returns none, and wherever a
  // group is calibrated, they are made here.
  KnownPrediction known;
};

// What rows may be grouped by: file, source, model, device, precision, workers, batch, metric.
std::vector<std::string> group_keys();

}  // namespace foretrain::evaluate

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/evaluate/evaluate.h"
#include "foretrain/fit/spread.h"
#include "foretrain/knowledge/intervals.h"

namespace foretrain::fit {

struct IntervalsFit {
  SpreadFit spread;
  std::vector<std::string> without;  // rows that are only judged: "file" or "file/device"
  std::string models;                // the folder of model files that rows name; "": here
};

// A measured step time, or a rate turned into one, its prediction and what its interval would
// have been had its source been unknown.
struct JudgedCase {
  evaluate::Case measured;
  LeftOut left_out;
  double log_ratio = 0;  // log(measured / predicted time)
};

struct SourceScore {
  std::string source;
  std::size_t rows = 0;
  double coverage = 0;        // of the intervals, the source left out
  double width = 0;           // mean of log(high / low)
  double score = 0;           // mean interval score
  double constant_cover = 0;  // the same of one ratio for all
  double constant_score = 0;
};

struct FittedIntervals {
  Intervals intervals;
  std::vector<JudgedCase> cases;
  std::vector<SourceScore> sources;
};

// Predicts every row of the training files in `data` with what is in use. Throws Error as
// evaluate() does, and BadInput where fewer than three sources have steps.
FittedIntervals fit_intervals(const std::filesystem::path& data, const IntervalsFit& fit,
                              const Library& library);

// Of each file that cases are of, by its name.
std::vector<SourceScore> score_sources(const std::vector<JudgedCase>& cases, double confidence);

// Means over rows ("all rows") and over sources ("sources alike").
std::vector<SourceScore> pooled(const std::vector<SourceScore>& sources);

// A CSV line per case: file, line, device, metric, measured and predicted value, the ends of the
// predicted value's interval with its source left out, the one ratio for all, and the regime.
std::string judged_header();
std::string judged_line(const JudgedCase& one);

}  // namespace foretrain::fit

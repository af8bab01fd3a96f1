// SPDX-License-Identifier: Apache-2.0
// Measured runs as scaling models learn from them: values of variables, and a time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"
#include "foretrain/knowledge/scaling_model.h"

namespace foretrain::train {

struct ScalingRow {
  std::vector<double> values{};  // of the variables; then the operator engine's time, where wanted
  double time_s = 0;
};

// Runs of one workload, which differ in their variables alone.
struct MeasuredWorkload {
  std::string name{};        // for people
  ScalingWorkload shared{};  // model, device, precision, framework
  std::vector<ScalingRow> rows{};
};

struct ScalingData {
  TimeOf time = TimeOf::Step;
  std::vector<std::string> variables{};
  bool with_operators = false;
  std::vector<MeasuredWorkload> workloads{};
  std::size_t skipped = 0;  // rows without a time or one of the variables
};

struct ScalingSource {
  std::filesystem::path data{};  // a store, a folder, a file: measured/open_tables.h
  std::optional<TimeOf> time{};
  // Of a CSV file that nobody knows: which column is what: "time" and names of
  // scaling_variables(), and "model", whose texts requests then use. Empty: rows are read as
  // `evaluate` reads them.
  std::map<std::string, std::string> columns{};
  std::map<std::string, std::string> where{};  // only rows whose columns hold these texts
  std::string model{};          // what requests call the model of rows that name none
  bool with_operators = false;  // predict each row's time by the operator engine
};

// Throws Error: BadInput for columns that are missing or no positive numbers, naming the line, with
// what there is; NotFound where no row is left; what readers and predictions throw.
ScalingData read_scaling_data(const ScalingSource& source, const Library& library);

}  // namespace foretrain::train

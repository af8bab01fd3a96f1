// SPDX-License-Identifier: Apache-2.0
// Runs of the lab: the store's table of runs as CSV (docs/store.md) becomes requests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/evaluate/mapping.h"
#include "foretrain/evaluate/row.h"
#include "foretrain/predict/measured_step.h"

namespace foretrain::evaluate {

bool are_runs(const std::vector<std::string>& columns);

// The numbers of a run that predictions are compared with: the median step and its exposed
// synchronisation, or the wall time of a whole job. Metrics name the setting. One entry with a
// reason where the run was not good. Throws Error(BadInput) naming `where`.
std::vector<MappedRow> map_run(const Row& row, const std::string& where);

std::string model_of_run(const Row& row, const std::string& where);

// The request of a run, as JSON, from its configuration. Every worker and every server is a host
// of its own; a share of a core is a slower core; links that are not shaped are taken as
// kUnshapedNetwork. Throws Error(BadInput) naming `where`.
std::string run_request(const std::string& configuration, const std::string& where);

// `count` good runs of different models, none of the test split, evenly chosen among those of one
// setting ("": the file's first). Throws Error: BadInput naming the line; NotFound where there is
// no such run; Io.
std::vector<MeasuredStep> calibration_runs(const std::filesystem::path& file,
                                           const std::string& setting, std::size_t count);

// What whole jobs of these models took besides their steps, each counted as the median one: the
// median of the jobs; 0 where there is none.
double startup_s(const std::filesystem::path& file, const std::vector<MeasuredStep>& of);

inline constexpr const char* kUnshapedNetwork = "5gbps";  // what Python and one core move

}  // namespace foretrain::evaluate

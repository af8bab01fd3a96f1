// SPDX-License-Identifier: Apache-2.0
// Runs of the lab: the store's table of runs as CSV (docs/store.md) becomes requests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/measured/measured_step.h"
#include "foretrain/measured/measurement.h"
#include "foretrain/measured/row.h"
#include "foretrain/measured/table.h"

namespace foretrain::measured {

bool are_runs(const std::vector<std::string>& columns);

// The numbers of a run that predictions are compared with: the median step, its exposed
// synchronisation, an epoch and the whole training where they are known, or the wall time of a
// whole job. Metrics name the setting. One entry with a
// reason where the run was not good. Throws Error(BadInput) naming `where`.
std::vector<Measurement> map_run(const Row& row, const std::string& where);

// What `foretrain predict` is asked for a run: the request that was kept with it, else by its
// configuration. Throws Error(BadInput) naming `where`.
std::string request_of_run(const Row& row, const std::string& where);

std::string model_of_run(const Row& row, const std::string& where);

// The request of a run, as JSON, from its configuration. Every worker and every server is a host
// of its own; a share of a core is a slower core; links that are not shaped are taken as
// kUnshapedNetwork. Throws Error(BadInput) naming `where`.
std::string run_request(const std::string& configuration, const std::string& where);

// The tables of runs that `data` has, whatever it is (open_tables.h). Throws Error(BadInput) where
// there is none.
std::vector<Table> open_runs(const std::filesystem::path& data);

// Good runs of one setting ("": that of the first run that is no whole job), none of the test
// split, evenly chosen. Of the lab `count` (10) of different models; of steps that were recorded
// one by one, which have no setting, `count` (all). Throws Error: BadInput naming the line;
// NotFound where there is no such run; Io.
std::vector<MeasuredStep> calibration_runs(const std::filesystem::path& data,
                                           const std::string& setting = "",
                                           std::optional<std::size_t> count = {});

// What whole jobs of these models took besides their steps, each counted as the median one: the
// median of the jobs; 0 where there is none.
double startup_s(const std::filesystem::path& data, const std::vector<MeasuredStep>& of);

inline constexpr const char* kUnshapedNetwork = "5gbps";  // what Python and one core move

}  // namespace foretrain::measured

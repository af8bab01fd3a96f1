// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "foretrain/sched/job.h"

namespace foretrain::sched {

// The jobs of a file, sorted by submission, which counts from the first one.
struct JobTrace {
  std::string format;  // "csv", "jsonl", "philly", "alibaba", "tiresias", "muri", "pollux"
  std::vector<Job> jobs;
  std::vector<std::string> notes;  // what was left out or assumed
};

// Reads a trace; its first line says which format it is (docs/simulator.md lists them). `name`
// begins every message ("trace x.csv"). Throws Error(BadInput) naming the line for what is
// malformed, missing or out of range; Error(Io) where reading breaks off.
JobTrace read_job_trace(std::istream& in, const std::string& name);
JobTrace read_job_trace(const std::filesystem::path& file);

}  // namespace foretrain::sched

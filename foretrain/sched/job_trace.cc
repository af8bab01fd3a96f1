// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/job_trace.h"

#include <algorithm>
#include <fstream>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/sched/job_trace_row.h"

namespace foretrain::sched {
namespace {

constexpr std::size_t kMostJobs = 20'000'000;
constexpr std::size_t kLongestLine = 1 << 20;

// More particular formats come first.
const std::vector<JobTraceFormat>& formats() {
  static const std::vector<JobTraceFormat> table = {
      {"csv", {"submit_s"}, read_csv_job, {}},
      {"philly", {"timestamp", "duration", "num_gpus"}, read_philly_job, {}},
      {"alibaba",
       {"num_gpu", "gpu_milli", "creation_time", "deletion_time"},
       read_alibaba_job,
       {"a share of a GPU counts as a whole one"}},
      {"muri",
       {"num_gpu", "submit_time", "duration", "iteration_time", "resource_time_0"},
       read_muri_job,
       {"times of the trace are milliseconds, rounded down to seconds"}},
      {"tiresias", {"num_gpu", "submit_time", "duration"}, read_tiresias_job, {}},
      {"pollux",
       {"time", "application", "num_replicas"},
       read_pollux_job,
       {"epochs of a Pollux application are assumed: the trace does not give them"}},
  };
  return table;
}

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::BadInput, message); }

const JobTraceFormat& recognise(const std::map<std::string, std::size_t>& columns,
                                const std::string& name) {
  for (const JobTraceFormat& format : formats()) {
    const auto has = [&](const std::string& column) { return columns.contains(column); };
    if (std::all_of(format.columns.begin(), format.columns.end(), has)) return format;
  }
  refuse(name +
         ", line 1: no known trace has these columns; a CSV of your own needs submit_s, "
         "duration_s (or request) and devices");
}

std::map<std::string, std::size_t> index_columns(const std::vector<std::string>& header,
                                                 const std::string& name) {
  std::map<std::string, std::size_t> columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!columns.emplace(header[i], i).second) {
      refuse(name + ", line 1: column '" + printable(header[i]) + "' is given twice");
    }
  }
  return columns;
}

void add_job(Job job, JobTrace& trace, const std::string& where) {
  if (trace.jobs.size() == kMostJobs) refuse(where + ": more than 20,000,000 jobs");
  if (job.name.empty()) job.name = std::to_string(trace.jobs.size());
  trace.jobs.push_back(std::move(job));
}

void read_csv(std::istream& in, const std::string& name, JobTrace& trace) {
  CsvReader reader(in, name);
  std::vector<std::string> fields;
  if (!reader.next(fields)) refuse(name + ": is empty; the first line names the columns");
  const auto columns = index_columns(fields, name);
  const JobTraceFormat& format = recognise(columns, name);
  trace.format = format.name;
  trace.notes = format.notes;
  std::map<std::string, int> left_out;
  while (reader.next(fields)) {
    const std::string where = name + ", line " + std::to_string(reader.line());
    if (fields.size() != columns.size()) {
      refuse(where + ": has " + std::to_string(fields.size()) + " fields, the first line has " +
             std::to_string(columns.size()));
    }
    Job job;
    if (const auto reason = format.read(JobTraceRow(columns, fields, where), job)) {
      ++left_out[*reason];
    } else {
      add_job(std::move(job), trace, where);
    }
  }
  for (const auto& [reason, count] : left_out) {
    trace.notes.push_back(std::to_string(count) + " left out: " + reason);
  }
}

void read_lines(std::istream& in, const std::string& name, JobTrace& trace) {
  trace.format = "jsonl";
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::string where = name + ", line " + std::to_string(number);
    if (line.size() > kLongestLine) refuse(where + ": longer than 1 MiB");
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    add_job(read_json_job(line, where), trace, where);
  }
  if (in.bad()) throw Error(ErrorKind::Io, name + ": cannot be read further");
}

void put_in_order(JobTrace& trace) {
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const Job& a, const Job& b) { return a.submit < b.submit; });
  const Seconds first = trace.jobs.front().submit;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    trace.jobs[i].id = static_cast<std::int64_t>(i);
    trace.jobs[i].submit -= first;
  }
}

}  // namespace

JobTrace read_job_trace(std::istream& in, const std::string& name) {
  JobTrace trace;
  in >> std::ws;
  if (in.peek() == '{') {
    read_lines(in, name, trace);
  } else {
    read_csv(in, name, trace);
  }
  if (trace.jobs.empty()) refuse(name + ": has no job that asks for a device");
  put_in_order(trace);
  return trace;
}

JobTrace read_job_trace(const std::filesystem::path& file) {
  const std::string name = "trace " + printable(file.string(), 200);
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    throw Error(ErrorKind::Io, name + ": cannot be opened");
  }
  return read_job_trace(in, name);
}

}  // namespace foretrain::sched

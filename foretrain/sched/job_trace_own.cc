// SPDX-License-Identifier: Apache-2.0
// Our own formats: CSV and JSON lines with the same names.
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/sched/job_trace_row.h"

namespace foretrain::sched {
namespace {

void check_known(const Job& job, const std::string& where) {
  if (job.duration || !job.request.empty()) return;
  throw Error(ErrorKind::BadInput, where + ": give 'duration_s' or 'request', or both");
}

}  // namespace

std::optional<std::string> read_csv_job(const JobTraceRow& row, Job& job) {
  job.name = row.text("job");
  job.submit = row.time("submit_s");
  if (row.has("duration_s")) job.duration = row.time("duration_s");
  job.devices = row.has("devices") ? row.devices("devices") : 1;
  job.device = row.text("device");
  job.user = row.text("user");
  job.priority = row.maybe("priority").value_or(0);
  if (row.has("deadline_s")) job.deadline = row.time("deadline_s");
  job.request = row.text("request");
  check_known(job, row.where());
  return std::nullopt;
}

Job read_json_job(std::string_view line, const std::string& where) {
  const Json root = parse_json(line, where);
  JsonFields fields(root, where);
  Job job;
  job.name = fields.text("job").value_or("");
  job.submit = Seconds{check_time(fields.required_number("submit_s"), where, "submit_s")};
  if (const auto time = fields.number("duration_s")) {
    job.duration = Seconds{check_time(*time, where, "duration_s")};
  }
  job.devices = check_devices(fields.number("devices").value_or(1), where);
  job.device = fields.text("device").value_or("");
  job.user = fields.text("user").value_or("");
  job.priority = fields.number("priority").value_or(0);
  if (const auto time = fields.number("deadline_s")) {
    job.deadline = Seconds{check_time(*time, where, "deadline_s")};
  }
  if (const Json* request = fields.find("request")) job.request = json_text(*request);
  fields.finish();
  check_known(job, where);
  return job;
}

}  // namespace foretrain::sched

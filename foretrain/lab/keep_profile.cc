// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/keep_profile.h"

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/lab/detail/machine.h"
#include "foretrain/lab/detail/metric.h"
#include "foretrain/measured/import_measured.h"
#include "foretrain/measured/step_file.h"
#include "foretrain/request/request.h"

namespace foretrain::lab {
namespace {

std::vector<store::Run> runs_of(const ProfiledJob& job) {
  std::vector<store::Run> runs;
  if (!job.steps.empty()) {
    measured::Table table = measured::parse_steps(job.steps, kProfileCampaign, "the job's steps");
    for (measured::Row row; table.next(row);) {
      runs.push_back(measured::recorded_run(row, table.where()));
    }
    return runs;
  }
  if (job.request.empty()) {
    throw Error(ErrorKind::BadInput, "the job wrote no steps, and no request says what it was");
  }
  parse_request(job.request, "request");
  store::Run& run = runs.emplace_back();
  run.request = run.configuration = store::canonical_json(job.request);
  return runs;
}

}  // namespace

std::vector<std::int64_t> keep_profile(const ProfiledJob& job, store::Store& store) {
  std::vector<store::Run> runs = runs_of(job);
  std::vector<store::Metric> metrics;
  for (const profile::ResourceUse& use : job.profile.resources) metrics.push_back(metric_of(use));
  const store::Machine machine = describe_machine();
  std::vector<std::int64_t> ids;
  store.in_transaction([&] {
    store.put_machine(machine);
    store.put_campaign({.name = kProfileCampaign});
    for (store::Run& run : runs) {
      run.campaign = kProfileCampaign;
      run.machine = machine.id;
      run.details = json_text(Json{{"profiled_s", job.profile.duration.count()}});
      run.repeat = 0;
      while (store.has(run.campaign, run.configuration, run.repeat)) ++run.repeat;
      store::RunRecord record{.run = run};
      if (runs.size() == 1) record.metrics = metrics;
      ids.push_back(store.append_run(record));
    }
  });
  return ids;
}

}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/design_campaign.h"

#include <cmath>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/lab/campaign.h"

namespace foretrain::lab {
namespace {

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorKind::BadInput, what); }

std::string setting_of(double workers) { return format("workers-%.0f", workers); }

double samples_of(const DesignedJobs& jobs, const DesignedRun& run) {
  const double samples = std::round(run.fraction * static_cast<double>(jobs.samples));
  if (samples < static_cast<double>(jobs.batch) * run.workers) {
    bad(format(
        "a run of %g workers with %g of the data has %.0f samples, fewer than a batch of %lld for "
        "each worker; give more --samples, a smaller --batch or larger fractions",
        run.workers, run.fraction, samples, static_cast<long long>(jobs.batch)));
  }
  return samples;
}

void add_settings(const DesignedJobs& jobs, const std::vector<DesignedRun>& runs,
                  JsonWriter& json) {
  std::set<double> workers;
  for (const DesignedRun& run : runs) {
    if (run.workers != std::floor(run.workers))
      bad(format("%g workers are no whole number", run.workers));
    workers.insert(run.workers);
  }
  json.key("settings").begin_object();
  for (const double count : workers) {
    json.key(setting_of(count)).begin_object().field("workers", count).field("cores", jobs.cores);
    if (!jobs.network.empty()) json.field("network", jobs.network);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

std::string design_campaign(const DesignedJobs& jobs, const std::vector<DesignedRun>& runs) {
  JsonWriter json;
  json.begin_object()
      .field("format", "foretrain-campaign")
      .field("version", 1.0)
      .field("name", "design")
      .field("about", "written by foretrain design");
  add_settings(jobs, runs, json);
  json.key("jobs").begin_array();
  for (const DesignedRun& run : runs) {
    json.begin_object()
        .field("models", jobs.model)
        .field("batches", static_cast<double>(jobs.batch))
        .field("optimizers", jobs.optimizer)
        .field("settings", setting_of(run.workers))
        .field("samples", samples_of(jobs, run))
        .field("epochs", 1.0)
        .end_object();
  }
  json.end_array().end_object();
  std::string text = json.finish();
  read_campaign(text, "the design");  // what it refuses, collect would
  return text + "\n";
}

}  // namespace foretrain::lab

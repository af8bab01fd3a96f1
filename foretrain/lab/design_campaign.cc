// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/design_campaign.h"

#include <cmath>
#include <set>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/lab/campaign.h"

namespace foretrain::lab {
namespace {

constexpr double kMostWorkers = 64;  // as a campaign's setting

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorKind::BadInput, what); }

std::string setting_of(double workers) { return format("workers-%.0f", workers); }

void check_workers(const DesignedRun& run) {
  if (run.workers != std::floor(run.workers) || run.workers < 1 || run.workers > kMostWorkers) {
    bad(format("a run of %.17g workers cannot be made: the lab has 1 to %.0f", run.workers,
               kMostWorkers));
  }
}

// A campaign's texts may stand for several; here each is one.
void check_text(const std::string& text, const char* option) {
  if (text.find_first_of("{}") == std::string::npos) return;
  bad(std::string(option) + " is '" + printable(text) + "'; braces would make several designs");
}

double samples_of(const DesignedJobs& jobs, const DesignedRun& run) {
  const double samples = std::round(run.fraction * static_cast<double>(jobs.samples));
  if (samples < static_cast<double>(jobs.batch) * run.workers) {
    bad(
        format("a run of %g workers with %g of the data has %.0f samples, fewer than a batch of "
               "%lld for each worker; give more --samples, a smaller --batch or larger fractions",
               run.workers, run.fraction, samples, static_cast<long long>(jobs.batch)));
  }
  return samples;
}

void check(const DesignedJobs& jobs, const std::vector<DesignedRun>& runs) {
  check_text(jobs.model, "--model");
  check_text(jobs.optimizer, "--optimizer");
  std::set<std::pair<double, double>> known;
  for (const DesignedRun& run : runs) {
    check_workers(run);
    const double samples = samples_of(jobs, run);
    if (known.emplace(run.workers, samples).second) continue;
    bad(
        format("two runs of %g workers have %.0f samples each; give fractions that are farther "
               "apart, or more --samples",
               run.workers, samples));
  }
}

void add_settings(const DesignedJobs& jobs, const std::vector<DesignedRun>& runs,
                  JsonWriter& json) {
  std::set<double> workers;
  for (const DesignedRun& run : runs) workers.insert(run.workers);
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
  check(jobs, runs);
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
        .key("batches")
        .json(std::to_string(jobs.batch))
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

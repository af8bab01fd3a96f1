// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/lab/hosts.h"

namespace foretrain::lab {

// On what and how a job is trained.
struct Setting {
  std::string name{};
  int workers = 2;
  double cores = 1;  // of each worker: below 1 a share of its core
  bool parameter_servers = false;
  int servers = 0;
  bool asynchronous = false;
  std::string network{};   // "1gbps"; "" where links are not shaped
  double bytes_per_s = 0;  // the same
};

// One job: a model trained in a setting.
struct Configuration {
  std::string model{};
  std::int64_t batch = 0;  // per worker
  std::string optimizer{};
  int setting = 0;  // index into Campaign::settings
  // A whole job, from the start of its processes to their end, has samples in all and epochs.
  std::int64_t samples = 0;
  std::int64_t epochs = 0;
  std::string split{};  // "train" or "test", by the model's name alone
  std::string text{};   // canonical JSON with all that decides the result: the store's key

  bool whole() const { return epochs > 0; }
};

// One measurement to be made.
struct PlannedRun {
  int configuration = 0;  // index into Campaign::configurations
  int repeat = 0;
};

struct Campaign {
  std::string name{};
  std::string definition{};  // the file's text
  Seconds least_time{10};    // of the steps that are measured
  int least_steps = 20;
  int warm_up = 3;
  Seconds window{0.01};
  Seconds memory_window{0.002};  // of memory activity, whose bursts are short
  int threads = 1;
  double most_foreign_cores = 0.1;  // used by others on average; above, a run is repeated
  double outlier = 0.15;            // a repeat that differs so much from the others is repeated
  int attempts = 3;
  std::vector<RemoteHost> hosts{};  // empty: this machine
  std::vector<Setting> settings{};
  std::vector<Configuration> configurations{};
  std::vector<PlannedRun> planned{};  // in the order in which they are run: repeats are far apart
};

// Reads a campaign; docs/collect.md describes the file. Throws Error(BadInput) naming `where`.
Campaign read_campaign(std::string_view text, const std::string& where);

// Leaves the runs of these settings alone. Throws Error(NotFound) for one that the campaign lacks.
void keep_settings(Campaign& campaign, const std::vector<std::string>& names);

// "100mbps", "1gbps", "2.5gbps" as bytes per second. Throws Error(BadInput) naming `where`.
double rate_of(const std::string& text, const std::string& where);

// "random:family=cnn,seed={1..3}" stands for three texts, "{a,b}" for two; several braces for all
// combinations, the last varying fastest. Throws Error(BadInput).
std::vector<std::string> expand_braces(const std::string& text);

}  // namespace foretrain::lab

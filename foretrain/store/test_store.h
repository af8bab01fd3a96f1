// SPDX-License-Identifier: Apache-2.0
// For tests: a store in a temporary file, a folder, and rows to put into them.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "foretrain/store/store.h"

namespace foretrain::store {

// A path that is free at first; the file and its log are gone when the test ends.
class TemporaryStore {
 public:
  TemporaryStore()
      : path_(std::filesystem::temp_directory_path() /
              ("foretrain-store-" + std::to_string(std::random_device{}()) + ".db")) {}
  ~TemporaryStore() {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
  }
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Open, with the machine "here" and the campaign "base".
  Store open() const {
    Store store(path_);
    store.put_machine({.id = "here", .cpu = "toy", .cores = 2});
    store.put_campaign({.name = "base", .created = "2026-11-16T00:00:00Z", .definition = "{}"});
    return store;
  }

 private:
  std::filesystem::path path_;
};

// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("foretrain-exchange-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline RunRecord sample_record(std::int64_t repeat) {
  RunRecord record;
  record.run.campaign = "base";
  record.run.machine = "here";
  record.run.configuration = R"({"batch":32,"model":"resnet18"})";
  record.run.setting = "ddp2";
  record.run.split = "train";
  record.run.repeat = repeat;
  record.run.started = "2026-11-16T00:00:01Z";
  record.run.steps = 2;
  record.run.step_median_s = 0.25;
  Metric& metric = record.metrics.emplace_back();
  metric.role = "worker";
  metric.resource = "gpu_util";
  metric.unit = "%";
  metric.pattern = "BIB";
  metric.burst_amount = 97.5;
  record.step_times_s = {0.25, 0.5};
  Samples& samples = record.samples.emplace_back();
  samples.role = "worker";
  samples.resource = "gpu_util";
  samples.unit = "%";
  samples.window_s = 0.01;
  samples.scale = 100;
  samples.values = {64, 32, 0.125};
  return record;
}

inline Operator sample_operator() {
  Operator row;
  row.machine = "here";
  row.source = "collect";
  row.kind = "linear";
  row.time_s = 0.1;
  return row;
}

inline Collective sample_collective() {
  Collective row;
  row.machine = "here";
  row.source = "collect";
  row.kind = "all_reduce";
  row.ranks = 2;
  row.time_s = 0.1;
  return row;
}

}  // namespace foretrain::store

// SPDX-License-Identifier: Apache-2.0
// A datasheet says it all: under another name it gives the same prediction.
#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/hw/hardware_json.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

// What does not depend on which devices were measured.
std::string numbers(const Report& report) {
  Json json = parse_json(to_json(report), "report");
  Json same;
  same["step_time_s"] = json.at("step_time_s").at("value");
  for (const char* key : {"memory_bytes", "resources", "breakdown_s", "communication_s"}) {
    EXPECT_TRUE(json.contains(key)) << key;
    same[key] = json[key];
  }
  return json_text(same);
}

// Models of every kind; 1 to 64 workers on one node and on many, evenly and not; every exchange of
// gradients; servers that the device itself serves.
Json jobs() {
  return parse_json(R"([
    {"model": "resnet18", "batch": 16},
    {"model": "resnet18", "batch": 16, "workers": 8},
    {"model": "bert-base:seq=64", "batch": 4, "workers": 16, "workers_per_node": 4,
     "network": "25gbe", "optimizer": "adam"},
    {"model": "lstm-lm", "batch": 4, "workers": 64, "workers_per_node": 8, "network": "4xhdr",
     "strategy": "horovod"},
    {"model": "alexnet", "batch": 8, "placement": [1, 2, 3], "network": "10gbe",
     "strategy": "allreduce"},
    {"model": "mlp", "batch": 8, "workers": 4, "strategy": "dataparallel"},
    {"model": "dlrm-small", "batch": 64, "workers": 2, "workers_per_node": 1, "network": "1gbe"},
    {"model": "resnet18-cifar", "batch": 8, "workers": 4, "workers_per_node": 1,
     "network": "10gbe", "strategy": {"kind": "ps", "servers": 2}},
    {"model": "resnet18-cifar", "batch": 8, "workers": 12, "workers_per_node": 2,
     "network": "10gbe", "strategy": {"kind": "ps", "servers": 3, "asynchronous": true}},
    {"model": "resnet18-cifar", "batch": 8, "workers": 2, "workers_per_node": 1,
     "network": "10gbe", "strategy": {"kind": "ps", "server_device": "the same"}}
  ])",
                    "jobs");
}

Report predict_on(Json job, const Json& device, const Library& library) {
  job["device"] = device;
  if (job.contains("strategy") && job["strategy"].is_object() &&
      job["strategy"].contains("server_device")) {
    job["strategy"]["server_device"] = device;
  }
  return predict(parse_request(json_text(job), "predict"), library);
}

void expect_same(const std::string& name, const hw::DeviceEntry& entry, const Library& library) {
  Json sheet = parse_json(hw::device_json(entry), "device");
  sheet["name"] = "my own";
  sheet.erase("aliases");
  sheet.erase("sources");
  for (const Json& job : jobs()) {
    EXPECT_EQ(numbers(predict_on(job, sheet, library)), numbers(predict_on(job, name, library)))
        << name << " " << job;
  }
}

TEST(DescribedDevice, PredictsAsTheGpuOfTheSameDatasheet) {
  const Library library = load_library();
  int gpus = 0;
  for (const hw::DeviceEntry& entry : library.catalog.devices) {
    if (hw::is_cpu(entry.device)) continue;
    ++gpus;
    expect_same(entry.device.name, entry, library);
  }
  EXPECT_GT(gpus, 30);
}

TEST(DescribedDevice, PredictsAsTheCpuOfTheSameDatasheet) {
  const Library library = load_library();
  for (const char* name : {"cpu:cores=0.25", "cpu:cores=1", "cpu:cores=4", "cpu:cores=64"}) {
    expect_same(name, {hw::find_device(library.catalog, name, nullptr), {}, {}}, library);
  }
}

}  // namespace
}  // namespace foretrain

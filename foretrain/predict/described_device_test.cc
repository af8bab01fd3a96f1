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
  return same.dump();
}

TEST(DescribedDevice, PredictsAsTheCatalogsOfTheSameDatasheet) {
  const Library library = load_library();
  int gpus = 0;
  for (const hw::DeviceEntry& entry : library.catalog.devices) {
    if (hw::is_cpu(entry.device)) continue;
    ++gpus;
    Json sheet = parse_json(hw::device_json(entry), "device");
    sheet["name"] = "my own";
    sheet.erase("aliases");
    sheet.erase("sources");
    for (const int workers : {1, 8}) {
      Json request{{"model", "resnet18"}, {"batch", 16}, {"workers", workers}};
      request["device"] = entry.device.name;
      const Report named = predict(parse_request(request.dump(), "named"), library);
      request["device"] = sheet;
      const Report described = predict(parse_request(request.dump(), "described"), library);
      EXPECT_EQ(numbers(described), numbers(named)) << entry.device.name << " x " << workers;
    }
  }
  EXPECT_GT(gpus, 30);
}

}  // namespace
}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/calibration.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain {
namespace {

constexpr int kVersion = 1;
constexpr double kMost = 100;  // no machine differs by more

double factor(JsonFields& fields, const std::string& key) {
  const double value = fields.required_number(key);
  if (value < 1 / kMost || value > kMost) {
    throw Error(ErrorKind::BadInput, fields.where() + ": '" + key + "' is not within 0.01 to 100");
  }
  return value;
}

void scale(std::optional<double>& value, double factor) {
  if (value) *value *= factor;
}

}  // namespace

bool is_for(std::string_view device, const Calibration& calibration) {
  return device == calibration.device || device.starts_with(calibration.device + ":");
}

// The power that a device may draw limits its arithmetic, so it is scaled alike.
void calibrate(const Calibration& by, hw::Device& device) {
  if (!is_for(device.name, by)) return;
  device.fp32_flops_per_s *= by.compute;
  device.tdp_w *= by.compute;
  for (std::optional<double>* peak :
       {&device.fp64_flops_per_s, &device.fp16_flops_per_s, &device.tensor_fp16_flops_per_s,
        &device.tensor_bf16_flops_per_s, &device.tensor_tf32_flops_per_s,
        &device.tensor_fp8_flops_per_s, &device.tensor_fp32_flops_per_s,
        &device.tensor_fp64_flops_per_s, &device.sustained_gemm_flops_per_s}) {
    scale(*peak, by.compute);
  }
  device.memory_bytes_per_s *= by.memory;
  if (hw::is_cpu(device)) scale(device.boost_clock_hz, by.host);
}

Calibration read_calibration(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kCalibrationFormat ||
      fields.required_number("version") != kVersion) {
    throw Error(ErrorKind::BadInput,
                where + ": not a calibration of version 1; `foretrain fit calibration` writes one");
  }
  fields.ignore("notes");
  Calibration calibration;
  calibration.device = fields.required_text("device");
  calibration.compute = factor(fields, "compute");
  calibration.memory = factor(fields, "memory");
  calibration.host = factor(fields, "host");
  calibration.network = factor(fields, "network");
  if (file.contains("input")) calibration.input = factor(fields, "input");
  if (file.contains("input_rate")) calibration.input_rate = fields.required_number("input_rate");
  if (!(calibration.input_rate >= 0 && calibration.input_rate < 1e12)) {
    throw Error(ErrorKind::BadInput, where + ": 'input_rate' is not within 0 to 1e12");
  }
  if (file.contains("startup_s")) calibration.startup_s = fields.required_number("startup_s");
  if (!(calibration.startup_s >= 0 && calibration.startup_s < 1e6)) {
    throw Error(ErrorKind::BadInput, where + ": 'startup_s' is not within 0 to 1e6");
  }
  if (file.contains("models")) {
    const Json& models = fields.require("models");
    for (const Json& model : models.is_array() ? models : Json::array({models})) {
      if (!model.is_string()) throw Error(ErrorKind::BadInput, where + ": 'models' are not texts");
      calibration.models.push_back(model.get<std::string>());
    }
  }
  fields.finish();
  return calibration;
}

std::string write_calibration(const Calibration& calibration, std::span<const std::string> notes) {
  const OrderedJson file{{"format", kCalibrationFormat},
                         {"version", kVersion},
                         {"notes", notes},
                         {"device", calibration.device},
                         {"compute", calibration.compute},
                         {"memory", calibration.memory},
                         {"host", calibration.host},
                         {"network", calibration.network},
                         {"input", calibration.input},
                         {"input_rate", calibration.input_rate},
                         {"startup_s", calibration.startup_s},
                         {"models", calibration.models}};
  return json_text(file, 1) + "\n";
}

bool calibrate(const Calibration& calibration, hw::Cluster& cluster) {
  const auto is_it = [&](const hw::Device& device) { return is_for(device.name, calibration); };
  if (std::none_of(cluster.devices.begin(), cluster.devices.end(), is_it)) return false;
  const bool alone = std::all_of(cluster.devices.begin(), cluster.devices.end(), is_it);
  for (hw::Device& device : cluster.devices) calibrate(calibration, device);
  if (!alone) return true;
  for (hw::Link& link : cluster.links) {
    link.bytes_per_s *= calibration.network;
    scale(link.flow_cap_bytes_per_s, calibration.network);
  }
  return true;
}

}  // namespace foretrain

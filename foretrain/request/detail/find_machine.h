// SPDX-License-Identifier: Apache-2.0
// What the machine and its software do where a request does not say it in numbers. Each adds what
// it assumes to `assumptions`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/cost/framework.h"
#include "foretrain/hw/device.h"
#include "foretrain/hw/host.h"
#include "foretrain/hw/instance.h"
#include "foretrain/request/model.h"
#include "foretrain/request/request.h"

namespace foretrain {

// As stated, of the instance's CPU, or usual beside such devices.
double find_host_speed(const Request& request, const hw::AssumedHost& host,
                       const hw::Device& device, const std::optional<hw::Instance>& instance,
                       std::vector<std::string>& assumptions);

// Samples per second of a worker's input, as stated or from its loaders, which read the model's
// graph; absent where nothing limits it. Throws Error: BadInput, or as the model's graph does.
std::optional<double> find_input_rate(const Request& request, const hw::AssumedHost& host,
                                      const Model& model, double host_speed,
                                      std::vector<std::string>& assumptions);

// Bytes per second of the copy that each step waits for, as stated or from where the input lies;
// absent where none is waited for. Throws Error(BadInput).
std::optional<double> find_copy_rate(const Request& request, const hw::AssumedHost& host,
                                     std::vector<std::string>& assumptions);

// Where fp32 is computed in TF32: as the framework does it on such devices, unless the request
// wants another precision or the strict one.
cost::Tf32 find_tf32(const Request& request, const cost::Framework& framework,
                     const std::vector<hw::Device>& devices, std::vector<std::string>& assumptions);

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "foretrain/cost/operator_timer.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/knowledge/calibration.h"
#include "foretrain/measured/operator_file.h"

namespace foretrain::evaluate {

// Times operators by one model; devices are looked up once. What is given must outlive the clock.
class OperatorClock {
 public:
  OperatorClock(const hw::Catalog& catalog, const cost::OperatorModel& model,
                std::span<const Calibration> calibrations = {})
      : catalog_(catalog), model_(model), calibrations_(calibrations) {}

  // Seconds with the overhead. Throws Error(NotFound) for an unknown device.
  double time_s(const measured::OperatorCase& one);
  // Of a convolution, when it is computed this way.
  double time_s(const measured::OperatorCase& one, cost::ConvAlgorithm algorithm);
  const hw::Device& device(const std::string& name);

 private:
  struct Place {
    std::unique_ptr<hw::Device> device;
    std::map<Precision, cost::OperatorTimer> timers;
  };

  Place& place(const std::string& name);
  const cost::OperatorTimer& timer(const measured::OperatorCase& one);

  const hw::Catalog& catalog_;
  const cost::OperatorModel& model_;
  std::span<const Calibration> calibrations_;
  std::map<std::string, Place> places_;
};

}  // namespace foretrain::evaluate

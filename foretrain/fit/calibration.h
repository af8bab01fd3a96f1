// SPDX-License-Identifier: Apache-2.0
// A device's calibration from a few measured steps.
#pragma once

#include <string>
#include <vector>

#include "foretrain/knowledge/calibration.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/measured_step.h"

namespace foretrain::fit {

// What a Calibration calls the device: a CPU is calibrated whatever the number of its cores.
std::string calibrated_kind(const hw::Device& device);

// compute, memory, host, network, input: what Calibration has.
std::vector<std::string> factor_names();

struct CalibrationFit {
  // How far factors of an unknown machine lie from 1, and how far steps lie from predictions that
  // know them: standard deviations of logarithms.
  double usual = 0.5;
  double noise = 0.08;
  int evaluations = 300;
  std::vector<std::string> factors;  // only these of factor_names(); empty: all
};

struct FittedCalibration {
  Calibration calibration;
  std::size_t steps = 0;
  double before = 0;  // mean absolute error, |predicted / measured - 1|
  double after = 0;
};

// The most probable factors, given the steps and what is usual (maximum a posteriori): with one
// step they move together, with ten they part, and exposed communication tells the network apart.
// They start from a calibration of this device in the library, such as one by its operators, else
// from 1. All steps must run on one kind of device. Throws Error(BadInput) where they do not, and
// what predictions throw.
FittedCalibration fit_calibration(const std::vector<measured::MeasuredStep>& steps,
                                  const CalibrationFit& options, const Library& library);

}  // namespace foretrain::fit

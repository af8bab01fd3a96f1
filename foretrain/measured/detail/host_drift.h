// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace foretrain::measured {

// A measured operator that gives the device little to do.
struct ShortOperator {
  double number = 0;  // of the measurement in its series
  double work = 0;    // that the device does, in any unit
  double measured_s = 0;
};

// What the host adds to the i-th measurement of a series in which it becomes slower and slower.
struct HostDrift {
  double start_s = 0;
  double slope_s = 0;  // per measurement
};

// The line start + slope i in
//
//   t = start + slope i + c work
//
// by least absolute deviations, so that a few operators with slow kernels do not move it. All
// zero for fewer than four operators. Source: iteratively reweighted least squares.
HostDrift find_host_drift(std::span<const ShortOperator> operators);

}  // namespace foretrain::measured

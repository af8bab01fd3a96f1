// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/comm/constants.h"

namespace foretrain::comm {

// What tests predict with: no link has constants of its own, so that every link is as described.
inline Constants test_constants() {
  Constants constants;
  constants.tcp_shared_nic = 0.077;
  constants.ramp_exponent = 0.66;
  return constants;
}

}  // namespace foretrain::comm

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::fit {

// How fast a machine is around its device, against the reference.
struct Machine {
  double host = 1;  // issues operators
  double copy = 1;  // copies the input
};

}  // namespace foretrain::fit

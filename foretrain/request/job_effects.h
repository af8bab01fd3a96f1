// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace foretrain {

// What happens to a whole job besides its steps; in seconds.
struct JobEffects {
  double evaluate_s = 0;                   // one evaluation, after each epoch
  double checkpoint_s = 0;                 // a checkpoint
  std::optional<double> checkpoint_every;  // work between two of them; absent: there are none
  std::optional<double> mtbf_s;            // mean time between failures; absent: nothing fails
  double restart_s = 0;                    // from a failure until work goes on
  bool stated = false;                     // the request says something of it
};

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_effects.h"

#include "foretrain/base/error.h"

namespace foretrain {

JobEffects find_effects(const Request& request, bool knows_epoch) {
  const auto needs = [](bool wrong, const char* what) {
    if (wrong) throw Error(ErrorKind::BadInput, what);
  };
  needs(request.evaluate_s && !knows_epoch,
        "'evaluate_s' is the time of an evaluation after each epoch; give 'dataset' or 'samples', "
        "which say how long an epoch is");
  needs(request.checkpoint_s && !request.checkpoint_every,
        "'checkpoint_s' needs 'checkpoint_every': seconds of work between two checkpoints");
  needs(request.restart_s && !request.mtbf_s,
        "'restart_s' needs 'mtbf_s': the mean time between failures of the whole job, in seconds");
  JobEffects effects;
  effects.evaluate_s = request.evaluate_s.value_or(0);
  effects.checkpoint_s = request.checkpoint_s.value_or(0);
  effects.checkpoint_every = request.checkpoint_every;
  effects.mtbf_s = request.mtbf_s;
  effects.restart_s = request.restart_s.value_or(0);
  effects.stated = request.evaluate_s || request.checkpoint_every || request.mtbf_s;
  return effects;
}

}  // namespace foretrain

// SPDX-License-Identifier: Apache-2.0
// How long a whole job takes: its steps, evaluations, checkpoints and failures.
#pragma once

#include "foretrain/request/job_effects.h"

namespace foretrain {

// The expected seconds of a job by what they go to; `total` is their sum.
struct JobTime {
  double training = 0;     // steps that count
  double evaluation = 0;   // after each whole epoch
  double checkpoints = 0;  // that count
  double lost_work = 0;    // what failures undid: steps, evaluations and checkpoints
  double restarts = 0;     // after failures, those that failed themselves included
  double startup = 0;      // once; it does not fail
  double failures = 0;     // how many are expected, not a time
};
double total(const JobTime& job);

// The time of a job of `training` seconds of steps in `epochs` epochs (0: not known).
//
// Work is steps and evaluations. A checkpoint follows each `checkpoint_every` seconds of it and the
// end of the job, so that the work is done in segments that each end with a checkpoint. Failures
// come at random with rate 1 / M whatever the job does. One undoes all since the last checkpoint
// and is followed by a restart of R seconds, which may fail as well and then begins anew. A segment
// of s seconds, its checkpoint included, takes on average
//
//   t(s) = M exp(R / M) (exp(s / M) - 1)
//
// of which s count, M (exp(s / M) - 1) - s are lost, and the rest are restarts; failures are
// t(s) / M. Without checkpoints the whole job is one segment.
// Source: Daly, Future Generation Computer Systems 22, 2006.
//
// Throws Error(BadInput) where a segment or a restart passes without a failure less than once in a
// million attempts: such a job does not end.
JobTime job_time(double training, double epochs, double startup, const JobEffects& effects);

}  // namespace foretrain

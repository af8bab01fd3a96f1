// SPDX-License-Identifier: Apache-2.0
// How much real steps vary, from measured runs: data/predictors/replay.json.
#pragma once

#include <string>
#include <vector>

#include "foretrain/inspector/replay_constants.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/resource_runs.h"

namespace foretrain::train {

struct FittedReplay {
  inspector::ReplayConstants constants;
  std::size_t jobs = 0;
  // Mean over the twelve numbers of a worker of mean |log(measured / replayed) - its median|.
  double before = 0;
  double after = 0;
};

// Gaps, jitter and noise whose replays err least, one after the other from short lists, twice; the
// other numbers stay as they are. Looks at workers of the jobs outside of the split "test", in
// `setting` alone unless it is empty. The same jobs give the same numbers. Throws Error(BadInput)
// where there is no such job, and what predictions throw.
FittedReplay fit_replay(const std::vector<measured::ResourceJob>& jobs, const std::string& setting,
                        const Library& library, int threads = 0);

}  // namespace foretrain::train

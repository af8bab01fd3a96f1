// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/judge.h"

#include <cmath>

#include "foretrain/base/median.h"

namespace foretrain::lab {

void Judge::learn(const store::Run& run) {
  if (run.step_median_s) medians_[run.configuration].push_back(*run.step_median_s);
}

void Judge::judge(const std::string& failure, bool last, store::Run& run) const {
  run.status = "ok";
  run.message.clear();
  if (!failure.empty()) {
    run.status = "failed";
    run.message = failure;
    return;
  }
  if (run.foreign_load && *run.foreign_load > most_foreign_cores_) {
    run.status = "foreign_load";
    run.message = "others used the machine";
    return;
  }
  const auto known = medians_.find(run.configuration);
  if (known == medians_.end() || !run.step_median_s) return;
  const double ratio = *run.step_median_s / median(known->second);
  if (std::abs(ratio - 1) <= outlier_) return;
  run.message = "steps take " + std::to_string(ratio) + " times as long as in other repeats";
  if (!last) run.status = "outlier";
}

}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "foretrain/store/rows.h"

namespace foretrain::lab {

// Decides which runs of one machine count, by what was learned of earlier ones there: another
// machine's speed says nothing.
class Judge {
 public:
  // As in a Campaign: cores that others may use on average, and how far a median step may lie from
  // that of the other repeats, as a share of it.
  Judge(double most_foreign_cores, double outlier)
      : most_foreign_cores_(most_foreign_cores), outlier_(outlier) {}

  // A run that counts.
  void learn(const store::Run& run);

  // Sets status and message: "failed" with `failure` where that is not empty, "foreign_load",
  // "outlier", or "ok". The last attempt at an outlier counts, and says what it is. What was not
  // measured (foreign load of remote hosts) decides nothing.
  void judge(const std::string& failure, bool last, store::Run& run) const;

 private:
  double most_foreign_cores_;
  double outlier_;
  std::map<std::string, std::vector<double>> medians_;  // by configuration, seconds
};

}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/profile/recording.h"
#include "foretrain/resource/bursts.h"

namespace foretrain::profile {

// How one column of a recording is used.
struct ResourceUse {
  std::string name;
  std::string unit;
  double mean = 0;
  resource::Bursts bursts;
};

struct Profile {
  Seconds window{0.01};
  Seconds duration{0};
  std::vector<ResourceUse> resources;  // without columns that hold no number
  std::optional<Seconds> period;       // of one iteration
  std::string period_of;               // the column in which it was found
  std::vector<std::string> notes;      // assumptions and doubts
};

// Splits every column into bursts and idles, smoothed as the lab found repeatable: 30 ms for the
// device, 50 ms for network and disk, nothing for the rest, with shorter runs dropped; a column
// whose scale is not known is taken to reach it at its highest smoothed sample, at least 1 Mb/s.
Profile analyse(const Recording& recording);

// {"window_s": ..., "worker": {...}, "server": null}: the resources object of the report, with
// spreads, and "period_s", "duration_s", "notes" beside them.
std::string to_json(const Profile& profile);

}  // namespace foretrain::profile

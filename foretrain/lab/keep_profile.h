// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/profile/analyse.h"
#include "foretrain/store/store.h"

namespace foretrain::lab {

// A job of somebody that was sampled on this machine.
struct ProfiledJob {
  profile::Profile profile;
  std::string steps{};    // the JSON lines that it wrote of its steps (measured/step_file.h)
  std::string request{};  // JSON of what ran, where it wrote none
};

inline constexpr const char* kProfileCampaign = "profile";

// Writes a run for every line of `steps`, or one without step times for `request`, and returns
// their numbers: runs of the campaign "profile" on this machine. How resources were used belongs to
// the job as a whole, so it is kept where there is one run. Throws Error: BadInput for what is no
// step or no request, or where both are empty; what the store throws.
std::vector<std::int64_t> keep_profile(const ProfiledJob& job, store::Store& store);

}  // namespace foretrain::lab

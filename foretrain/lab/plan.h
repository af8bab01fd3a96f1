// SPDX-License-Identifier: Apache-2.0
// What a campaign comes to on a machine, before anything runs.
#pragma once

#include <string>
#include <vector>

#include "foretrain/lab/campaign.h"
#include "foretrain/store/store.h"

namespace foretrain::lab {

// Why a setting cannot be had; "" where it can. It is left out then: measured without what it says
// it would stand in the store under a false name.
std::string obstacle(const Setting& setting, const Means& means);

// A setting of a campaign: what it is to be trained in, and what of that is done.
struct SettingPlan {
  std::size_t configurations = 0;  // whose steps are measured
  std::size_t whole = 0;           // whole jobs
  std::size_t test = 0;            // of both, in the test split
  std::size_t runs = 0;
  std::size_t found = 0;   // of the runs, in the store
  std::string obstacle{};  // why the others cannot be made here; "" where they can
};

// Of every setting, in the campaign's order; `store` may be null: nothing is there.
std::vector<SettingPlan> plan_of(const Campaign& campaign, const store::Store* store,
                                 const Means& means);

// Every model once, in the order of their first use.
std::vector<std::string> models_of(const Campaign& campaign);

}  // namespace foretrain::lab

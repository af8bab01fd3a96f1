// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/plan.h"

#include <set>

namespace foretrain::lab {

std::string obstacle(const Setting& setting, const Means& means) {
  if (setting.bytes_per_s > 0 && !means.shaped_links) {
    return "a link can be shaped only in namespaces, which need root on Linux with 'unshare', 'ip' "
           "and 'tc', and no --plain";
  }
  if (setting.cores < 1 && !means.core_shares) {
    return "a share of a core needs control groups, which may not be made here without root";
  }
  return "";
}

std::vector<SettingPlan> plan_of(const Campaign& campaign, const store::Store* store,
                                 const Means& means) {
  std::vector<SettingPlan> plan(campaign.settings.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    plan[i].obstacle = obstacle(campaign.settings[i], means);
  }
  for (const Configuration& one : campaign.configurations) {
    SettingPlan& setting = plan[static_cast<std::size_t>(one.setting)];
    ++(one.whole() ? setting.whole : setting.configurations);
    if (one.split == "test") ++setting.test;
  }
  for (const PlannedRun& run : campaign.planned) {
    const Configuration& one = campaign.configurations[static_cast<std::size_t>(run.configuration)];
    SettingPlan& setting = plan[static_cast<std::size_t>(one.setting)];
    ++setting.runs;
    if (store != nullptr && store->has(campaign.name, one.text, run.repeat)) ++setting.found;
  }
  return plan;
}

std::vector<std::string> models_of(const Campaign& campaign) {
  std::set<std::string_view> seen;
  std::vector<std::string> models;
  for (const Configuration& one : campaign.configurations) {
    if (seen.insert(one.model).second) models.push_back(one.model);
  }
  return models;
}

}  // namespace foretrain::lab

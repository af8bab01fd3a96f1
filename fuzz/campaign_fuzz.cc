// SPDX-License-Identifier: Apache-2.0
// Whatever a campaign says: it is refused with an Error, or what it comes to can be planned.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/lab/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;  // NOLINT: a program of its own
  try {
    const lab::Campaign campaign =
        lab::read_campaign({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto plan = lab::plan_of(campaign, nullptr, lab::Means{});
    if (plan.size() != campaign.settings.size()) std::abort();
    std::size_t runs = 0;
    for (const lab::SettingPlan& one : plan) runs += one.runs;
    if (runs != campaign.planned.size()) std::abort();
    if (!campaign.planned.empty() && lab::models_of(campaign).empty()) std::abort();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

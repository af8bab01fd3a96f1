// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/network_factor.h"

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/evaluate/collective_clock.h"
#include "foretrain/fit/calibration.h"

namespace foretrain::fit {
namespace {

constexpr double kLarge = 1 << 20;

}  // namespace

NetworkFactor network_by_collectives(const std::vector<measured::CollectiveCase>& cases,
                                     const Library& library) {
  const hw::Catalog& catalog = library.catalog;
  evaluate::CollectiveClock clock(catalog, *library.collectives);
  NetworkFactor found;
  std::vector<double> ratios;
  for (const measured::CollectiveCase& one : cases) {
    if (!one.own || !one.broken.empty() || one.bytes < kLarge) continue;
    const hw::Device device = hw::find_device(catalog, one.own->device, nullptr);
    const std::string name = calibrated_kind(device);
    if (!found.device.empty() && found.device != name) {
      throw Error(ErrorKind::BadInput, "collectives of " + found.device + " and of " + name +
                                           "; calibrate one device at a time");
    }
    found.device = name;
    ratios.push_back(clock.predict(one) / one.measured);
  }
  if (ratios.empty()) {
    throw Error(ErrorKind::BadInput,
                "no collective of 1 MiB or more that `foretrain collect collectives` timed");
  }
  found.rows = ratios.size();
  found.network = median(std::move(ratios));
  return found;
}

}  // namespace foretrain::fit

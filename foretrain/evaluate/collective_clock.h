// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "foretrain/comm/path.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/measured/collective_file.h"

namespace foretrain::evaluate {

// Predicts collectives; paths are looked up once.
class CollectiveClock {
 public:
  CollectiveClock(const hw::Catalog& catalog, const comm::Constants& constants)
      : catalog_(catalog), constants_(constants) {}

  // What `measured` is compared with.
  double predict(const measured::CollectiveCase& one);

 private:
  const comm::Path& path(const measured::CollectiveCase& one);

  const hw::Catalog& catalog_;
  const comm::Constants& constants_;
  std::map<std::tuple<std::string, int, int>, comm::Path> paths_;
};

}  // namespace foretrain::evaluate

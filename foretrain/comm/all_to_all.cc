// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_to_all.h"

#include <algorithm>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds all_to_all(double bytes, const Path& path) {
  if (path.ranks == 1) return Seconds{0};
  const double part = bytes / path.ranks;
  const double near = path.most_devices - 1.0;
  const double far = path.ranks - path.most_devices;
  Seconds transfer{0};
  if (near > 0) transfer = transfer_time(near * part, path.inside);
  if (far > 0) {
    transfer = std::max(transfer, transfer_time(path.most_devices * far * part, path.across));
  }
  return path.flat.launch + (path.ranks - 1) * path.flat.latency + transfer;
}

}  // namespace foretrain::comm

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/plan.h"

namespace foretrain::parallel {

Traffic scaled(const Traffic& traffic, double factor) {
  return {traffic.worker_tx_bytes * factor, traffic.worker_rx_bytes * factor,
          traffic.server_tx_bytes * factor, traffic.server_rx_bytes * factor};
}

}  // namespace foretrain::parallel

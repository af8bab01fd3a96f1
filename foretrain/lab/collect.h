// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/lab/campaign.h"
#include "foretrain/lab/workers.h"
#include "foretrain/store/store.h"

namespace foretrain::lab {

// After each attempt at a measurement.
struct Event {
  std::size_t done = 0;  // measurements that are in the store, earlier ones too
  std::size_t total = 0;
  std::optional<Seconds> left{};  // until the end, at the speed so far
  const Configuration* configuration = nullptr;
  const Setting* setting = nullptr;
  const store::Run* run = nullptr;
};

struct CollectOptions {
  WorkerOptions workers{};
  bool isolated = false;        // isolate.h: hosts are namespaces
  std::size_t most = SIZE_MAX;  // measurements of this call
  std::function<void(const Event&)> on_event{};
  std::function<void(const std::string&)> on_note{};
};

struct Summary {
  std::size_t total = 0;
  std::size_t found = 0;     // in the store before
  std::size_t measured = 0;  // now
  std::size_t missing = 0;   // tried without success: failed, or others used the machine
};

// Runs what a campaign asks and the store does not hold yet. Holds the machine's lock, so that a
// second lab is refused: Error(Io). A job that fails is recorded as such and does not end the
// campaign; a model that cannot be built does, before anything runs. Once the workers' interrupt is
// raised the run that goes on is given up, nothing of it is recorded, and what was done is
// returned.
Summary collect(const Campaign& campaign, store::Store& store, const CollectOptions& options);

}  // namespace foretrain::lab

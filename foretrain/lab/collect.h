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
  Seconds patience{30};  // for others to stop, before each run; then it is tried all the same
  std::function<void(const Event&)> on_event{};
  std::function<void(const std::string&)> on_note{};
};

struct Summary {
  std::size_t total = 0;
  std::size_t found = 0;     // in the store before
  std::size_t measured = 0;  // now
  std::size_t missing = 0;   // tried without success: failed, or others used the machine
  std::size_t left_out = 0;  // of settings that this machine cannot give; a note says why
};

// Runs what a campaign asks and the store does not hold yet, alone on this machine: a second lab is
// refused, Error(Io). Settings that cannot be had here are left out, which notes say before
// anything runs. A job that fails is recorded as such and does not end the campaign; a model that
// cannot be built does, before anything runs. Once the workers' interrupt is raised the run that
// goes on is given up, nothing of it is recorded, and what was done is returned.
//
// Of remote hosts only times are measured. A run is stored under the machine of worker 0, whose
// steps it tells; its details list the machines of all `hosts`.
Summary collect(const Campaign& campaign, store::Store& store, const CollectOptions& options);

// The same on given hosts, as many as the largest setting needs.
Summary collect(const Campaign& campaign, store::Store& store, const CollectOptions& options,
                Hosts& hosts);

}  // namespace foretrain::lab

// SPDX-License-Identifier: Apache-2.0
// The events of a Chrome trace of torch.profiler that tell of steps, operators and kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foretrain/measured/detail/aten_operators.h"

namespace foretrain::measured {

struct TorchSpan {
  double begin_us = 0;
  double end_us = 0;
};

// A call of an operator on the host.
struct TorchCall {
  TorchSpan span;
  std::int64_t thread = 0;
  std::int64_t id = 0;  // by which kernels name it
  int what = -1;        // of TorchEvents::known; -1: an operator that we do not know
};

struct TorchKernel {
  TorchSpan span;
  std::int64_t id = 0;           // of the call that launched it; 0: see the launch
  std::int64_t correlation = 0;  // with its launch
};

struct TorchEvents {
  std::map<std::string, TorchSpan> host_steps;    // ProfilerStep#N
  std::map<std::string, TorchSpan> device_steps;  // from the first to the last on any stream
  std::vector<TorchCall> calls;                   // by thread and time, outer ones first
  std::vector<TorchKernel> kernels;
  std::unordered_map<std::int64_t, std::int64_t> launches;  // correlation to the call's id
  std::map<AtenCall, int> known;                            // numbered as they come
};

// Throws Error(BadInput) naming `where` where it is no such trace or claims more than any has.
TorchEvents read_torch_events(std::string_view text, const std::string& where);

}  // namespace foretrain::measured

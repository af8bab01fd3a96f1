// SPDX-License-Identifier: Apache-2.0
// Memory of a device that driver, libraries and kernels take before the first tensor.
// data/predictors/memory_context.json has the numbers in use, each with its source.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/number_file.h"

namespace foretrain::memory {

struct ContextBytes {
  std::map<std::string, double, std::less<>> gpu;  // of that architecture
  double other_gpu = 0;                            // of any other architecture
  double cpu = 0;                                  // the process itself
  double collectives = 0;         // channels and buffers of an NCCL communicator, on a GPU
  double nvlink_collectives = 0;  // likewise over NVLink, on GPUs from Ampere on
  double lost_share = 0;  // of live memory: what a full device's allocator loses between blocks
};

// Of a GPU of that architecture, without collectives.
double gpu_context_bytes(const ContextBytes& context, std::string_view architecture);

// Every number of the file. Pointers into `context`.
std::vector<NumberPlace> named_numbers(ContextBytes& context);

inline constexpr std::string_view kContextFormat = "foretrain-memory-context";

// Any architecture may be given. Throws Error(BadInput) naming `where`.
ContextBytes read_context_bytes(std::string_view text, const std::string& where);
std::string write_context_bytes(const ContextBytes& context, std::span<const std::string> notes);

}  // namespace foretrain::memory

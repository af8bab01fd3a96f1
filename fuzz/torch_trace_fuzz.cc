// SPDX-License-Identifier: Apache-2.0
// Any text is read as a trace of torch.profiler whose operators can be timed, or refused with an
// Error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/torch_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;  // NOLINT: a program of its own
  static const Library kLibrary = load_library();
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const measured::TorchTrace trace = measured::parse_torch_trace(text, "input");
    if (!trace.steps_s.empty() && !(measured::step_of(trace) > 0)) std::abort();
    for (const char* device : {"t4", "cpu:cores=1"}) {
      evaluate::OperatorClock clock(kLibrary.catalog, *kLibrary.operators);
      for (const auto& one : measured::traced_operators(trace, device, Precision::Fp32)) {
        if (!(clock.time_s(*one) >= 0)) std::abort();
      }
    }
  } catch (const Error&) {
  }
  return 0;
}

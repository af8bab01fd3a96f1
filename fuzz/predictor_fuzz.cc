// SPDX-License-Identifier: Apache-2.0
// Whatever a file of a predictor says: it is refused with an Error, or predictions with it are
// finite or refused.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;  // NOLINT: a program of its own
  static const Library kLibrary = load_library();
  static const Request kRequest = parse_request(
      R"({"model": "mlp", "device": "t4", "workers": 2, "network": "10gbe", "batch": 8})", "fuzz");
  try {
    const Predictor predictor =
        parse_predictor({reinterpret_cast<const char*>(data), size}, "fuzz");
    Library library = copy_of(kLibrary);
    use(library, predictor);
    const double step = predict(kRequest, library).step_time_s.value;
    if (!std::isfinite(step) || step < 0) std::abort();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

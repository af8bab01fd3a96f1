// SPDX-License-Identifier: Apache-2.0
// Whatever a cluster file says, ours or a published one: it is refused with an Error, or jobs run
// on it and a step on it can be predicted.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/fleet/simulated_cluster.h"
#include "foretrain/predict/predict.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

constexpr std::size_t kMostNodes = 256;  // more take long, which is no finding

void run(const std::string& text, const Library& library) {
  if (!text.starts_with("{")) return;  // the name of a file
  const fleet::SimulatedCluster cluster = fleet::read_simulated_cluster(text, library.catalog);
  if (cluster.entry_of.size() != cluster.cluster.nodes.size()) std::abort();
  if (cluster.cluster.nodes.size() > kMostNodes) return;
  Request request;
  request.model = "mlp";
  request.batch = 8;
  request.cluster = Described{text, true};
  const double step = predict(request, library).step_time_s.value;
  if (!std::isfinite(step) || step <= 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Library kLibrary = [] {
    Library library = load_library();
    library.read_files = false;
    return library;
  }();
  try {
    run({reinterpret_cast<const char*>(data), size}, kLibrary);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

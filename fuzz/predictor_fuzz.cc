// SPDX-License-Identifier: Apache-2.0
// Whatever a file of a predictor says: it is refused with an Error, or predictions with it are
// finite or refused. Checksums, and the constants that a model was fitted on, are made right first,
// or nothing behind them would be reached.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"
#include "foretrain/predict/predict.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

// Of a scaling model over its workloads, of a network over all else.
void repair_checksums(Json& json) {
  if (!json.is_object()) return;
  if (json.contains("checksum") && json.contains("workloads")) {
    json["checksum"] = learn::checksum(json["workloads"].dump());
  }
  if (json.contains("network") && json["network"].is_object() &&
      json["network"].contains("network") && json["network"]["network"].is_object()) {
    Json& network = json["network"]["network"];
    network.erase("checksum");
    network["checksum"] = learn::checksum(network.dump());
  }
}

std::string repaired(std::string_view text, const Library& library) {
  try {
    Json json = parse_json(text, "fuzz");
    repair_checksums(json);
    if (json.is_object() && json.contains("constants")) {
      json["constants"] = library.constants.text();
    }
    return json.dump();
  } catch (const std::exception&) {  // the reader says what is wrong
    return std::string(text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Library kLibrary = load_library();
  static const Request kRequest = parse_request(
      R"({"model": "mlp", "device": "t4", "workers": 2, "network": "10gbe", "batch": 8})", "fuzz");
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Predictor predictor = parse_predictor(repaired(text, kLibrary), "fuzz");
    Library library = copy_of(kLibrary);
    use(library, predictor);
    const Report report = predict(kRequest, library);
    const Estimate& step = report.step_time_s;
    if (!std::isfinite(step.value) || step.value <= 0) std::abort();
    if (step.low && !(*step.low <= *step.high && std::isfinite(*step.high))) std::abort();
    if (!std::isfinite(report.samples_per_s)) std::abort();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

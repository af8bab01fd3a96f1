// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/fit/scaling_forecast_text.h"

#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"

namespace foretrain::cli {

std::string forecasts_text(const std::vector<ScalingForecast>& forecasts) {
  std::string text = format("  %-40s %12s %12s %12s\n", "workload", "forecast", "low", "high");
  for (const ScalingForecast& one : forecasts) {
    const std::string name = one.model.empty() ? "all runs" : printable(one.model, 40);
    text += format("  %-40s %12.4g", name.c_str(), one.value);
    if (one.low) text += format(" %12.4g %12.4g", *one.low, *one.high);
    text += one.inside ? "\n" : "  beyond what was measured\n";
  }
  return text;
}

std::string forecasts_json(const std::vector<ScalingForecast>& forecasts) {
  JsonWriter json;
  json.begin_array();
  for (const ScalingForecast& one : forecasts) {
    json.begin_object()
        .field("model", std::string_view(one.model))
        .field("device", std::string_view(one.device))
        .field("value", one.value)
        .field("low", one.low)
        .field("high", one.high)
        .field("inside", one.inside)
        .end_object();
  }
  json.end_array();
  return json.finish();
}

}  // namespace foretrain::cli

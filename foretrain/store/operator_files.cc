// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/operator_files.h"

#include <algorithm>
#include <string_view>

#include "foretrain/base/json.h"

namespace foretrain::store {
namespace {

constexpr double kMilli = 1e-3;
constexpr double kMicro = 1e-6;
constexpr std::int64_t kMostRanks = 1'000'000'000;  // a product of two is a whole number, too

const std::vector<OperatorFormat>& formats() {
  static const std::vector<OperatorFormat> kFormats{
      // NeuSight (ASPLOS 2025)
      {{"device", "op", "latency_ms"},
       "device",
       "op",
       "f32",
       "",
       {{"latency_ms", kMilli, "forward"}}},
      // Justus et al. (2018): a step with an optimizer holds both directions.
      {{"gpu_file", "kernelsize", "timeUsed_median"},
       "gpu_file",
       "=conv2d",
       "f32",
       "timeUsed_std",
       {{"timeUsed_median", kMilli, ""}}},
      {{"gpu_file", "dim_input", "timeUsed_median"},
       "gpu_file",
       "=linear",
       "f32",
       "timeUsed_std",
       {{"timeUsed_median", kMilli, ""}}},
      // ETT: operators of language models in half precision
      {{"gpu", "op", "params", "fwd_us", "bwd_us"},
       "gpu",
       "op",
       "f16",
       "",
       {{"fwd_us", kMicro, "forward"}, {"bwd_us", kMicro, "backward"}}}};
  return kFormats;
}

// A number where the text is one, else the text.
Json value_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(number)) return text;
  constexpr double kExact = 9007199254740992;  // 2^53
  if (number == std::floor(number) && std::abs(number) < kExact) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

// "b=2.0;l=1024.0" as fields.
void add_parameters(std::string_view text, Json& attributes) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    attributes[std::string(part.substr(0, equals))] =
        value_of(std::string(part.substr(equals + 1)));
  }
}

std::string attributes_of(const Sheet& sheet, const OperatorFormat& format) {
  Json attributes = Json::object();
  for (std::size_t i = 0; i < sheet.columns().size(); ++i) {
    const std::string& column = sheet.columns()[i];
    const bool is_time = std::any_of(format.times.begin(), format.times.end(),
                                     [&](const TimeColumn& time) { return column == time.column; });
    const bool named = column == format.machine || column == format.kind ||
                       column == format.spread || column == "split";
    if (is_time || named || sheet.cells()[i].empty()) continue;
    if (column == "params") {
      add_parameters(sheet.cells()[i], attributes);
    } else {
      attributes[column] = value_of(sheet.cells()[i]);
    }
  }
  return json_text(attributes);
}

// Justus: without an optimizer only the forward pass ran. The raw file numbers its optimizers,
// which says too little to know.
std::string direction_of(const Sheet& sheet, const TimeColumn& time) {
  if (*time.direction != '\0') return time.direction;
  if (!sheet.has("opt_None")) return "";
  return sheet.cell("opt_None") == "1" ? "forward" : "both";
}

}  // namespace

const OperatorFormat* operator_format(const Sheet& sheet) {
  for (const OperatorFormat& format : formats()) {
    if (sheet.has_all(format.signature)) return &format;
  }
  return nullptr;
}

std::vector<Operator> operators_of(const Sheet& sheet, const OperatorFormat& format) {
  Operator row;
  row.machine = sheet.cell(format.machine);
  if (row.machine.empty()) sheet.fail(std::string("column ") + format.machine + " is empty");
  row.source = sheet.file();
  if (sheet.has("split")) row.split = sheet.cell("split");
  row.kind = *format.kind == '=' ? format.kind + 1 : sheet.cell(format.kind);
  if (row.kind.empty()) sheet.fail("no kind of operator");
  row.dtype = format.dtype;
  row.attributes = attributes_of(sheet, format);
  std::vector<Operator> rows;
  for (const TimeColumn& time : format.times) {
    const std::optional<double> value = sheet.optional_number(time.column);
    if (!value) continue;
    if (*value < 0) sheet.fail(std::string("a time in column ") + time.column + " is negative");
    row.direction = direction_of(sheet, time);
    row.time_s = *value * time.seconds;
    if (*format.spread != '\0') {
      row.spread_s = sheet.optional_number(format.spread);
      if (row.spread_s) *row.spread_s *= time.seconds;
    }
    rows.push_back(row);
  }
  return rows;
}

bool is_collective_file(const Sheet& sheet) {
  return sheet.has_all({"gpu", "collective", "bytes", "nodes", "gpus_per_node", "dur_us"}) ||
         sheet.has_all({"gpu", "ranks", "nodes", "bytes", "oop_time_us"});
}

Collective collective_of(const Sheet& sheet) {
  const auto count = [&](const char* column) {
    const std::int64_t value = sheet.integer(column);
    if (value >= 1 && value <= kMostRanks) return value;
    sheet.fail("'" + sheet.cell(column) + "' in column " + column + " is no number of ranks");
  };
  Collective row;
  row.machine = sheet.cell("gpu");
  row.source = sheet.file();
  row.backend = "nccl";
  row.nodes = count("nodes");
  row.bytes = sheet.number("bytes");
  if (sheet.has("collective")) {
    row.kind = sheet.cell("collective");
    row.link = sheet.has("cluster") ? sheet.cell("cluster") : "";
    row.ranks = row.nodes * count("gpus_per_node");
    row.time_s = kMicro * sheet.number("dur_us");
  } else {
    row.kind = "all_reduce";
    row.ranks = count("ranks");
    row.time_s = kMicro * sheet.number("oop_time_us");
  }
  if (row.machine.empty()) sheet.fail("column gpu is empty");
  if (row.time_s < 0 || row.bytes < 0) sheet.fail("a time or a size is negative");
  return row;
}

}  // namespace foretrain::store

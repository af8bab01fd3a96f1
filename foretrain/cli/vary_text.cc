// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/base/humanise.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/split.h"
#include "foretrain/cli/table.h"
#include "foretrain/cli/vary.h"

namespace foretrain::cli {
namespace {

constexpr int kWidestValue = 24;  // of a varied value as a column's title

enum class Better { Less, More, Neither };

// A line of the table: a number that a report may have.
struct Row {
  const char* name;
  std::optional<double> (*value)(const Report&);
  std::string (*format)(double);
  Better better;
};

std::string time_text(double seconds) { return format_time(Seconds{seconds}); }

std::optional<double> value_of(const std::optional<Estimate>& estimate) {
  return estimate ? std::optional<double>(estimate->value) : std::nullopt;
}

using Maybe = std::optional<double>;
constexpr Row kRows[] = {
    {"time per step", [](const Report& r) -> Maybe { return r.step_time_s.value; }, time_text,
     Better::Less},
    {"samples/s", [](const Report& r) -> Maybe { return r.samples_per_s; }, format_count,
     Better::More},
    {"tokens/s", [](const Report& r) -> Maybe { return r.tokens_per_s; }, format_count,
     Better::More},
    {"share of peak", [](const Report& r) -> Maybe { return r.mfu; }, format_share, Better::More},
    {"time per epoch", [](const Report& r) -> Maybe { return value_of(r.epoch_time_s); }, time_text,
     Better::Less},
    {"total time", [](const Report& r) -> Maybe { return value_of(r.total_time_s); }, time_text,
     Better::Less},
    {"cost", [](const Report& r) -> Maybe { return value_of(r.cost_usd); }, format_money,
     Better::Less},
    {"memory", [](const Report& r) -> Maybe { return r.memory.peak; }, format_bytes, Better::Less},
    {"  fits", [](const Report& r) -> Maybe { return r.memory.fits ? 1 : 0; },
     [](double fits) -> std::string { return fits > 0 ? "yes" : "NO"; }, Better::Neither},
    {"compute", [](const Report& r) -> Maybe { return r.breakdown.compute.count(); }, time_text,
     Better::Less},
    {"memory traffic", [](const Report& r) -> Maybe { return r.breakdown.memory.count(); },
     time_text, Better::Less},
    {"exposed comm.",
     [](const Report& r) -> Maybe { return r.breakdown.exposed_communication.count(); }, time_text,
     Better::Less},
    {"host", [](const Report& r) -> Maybe { return r.breakdown.host.count(); }, time_text,
     Better::Less},
    {"bubble", [](const Report& r) -> Maybe { return r.breakdown.bubble.count(); }, time_text,
     Better::Less},
    {"input", [](const Report& r) -> Maybe { return r.breakdown.input.count(); }, time_text,
     Better::Less},
    {"communication", [](const Report& r) -> Maybe { return r.communication.count(); }, time_text,
     Better::Less},
};

const Report* reference(const Variation& variation) {
  for (const Variant& variant : variation.variants) {
    if (variant.report) return &*variant.report;
  }
  return nullptr;
}

// Rows that nobody has, or that are 0 everywhere, only take room.
bool worth_a_row(const Row& row, const Variation& variation) {
  return std::any_of(variation.variants.begin(), variation.variants.end(), [&](const Variant& v) {
    if (!v.report) return false;
    const Maybe value = row.value(*v.report);
    return value && (*value != 0 || row.better == Better::Neither);
  });
}

Cell change_cell(const Row& row, const Report& before, const Report& after) {
  const Maybe first = row.value(before);
  const Maybe now = row.value(after);
  if (!first || !now || &before == &after || row.better == Better::Neither) return {};
  const std::string text = format_change(*first, *now);
  if (text == "=") return {text, Colour::Dim};
  const bool good = (*now < *first) == (row.better == Better::Less);
  return {text, good ? Colour::Green : Colour::Red};
}

// The table of the first column and the columns from `begin` to `end`.
Table side_by_side(const Varied& varied, std::size_t begin, std::size_t end) {
  const Variation& variation = varied.variation;
  std::vector<const Variant*> shown{&variation.variants[0]};
  for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) {
    shown.push_back(&variation.variants[i]);
  }
  Table table;
  table.columns.push_back({variation.field, false, false});
  for (const Variant* variant : shown) {
    const auto place = static_cast<std::size_t>(variant - variation.variants.data());
    table.columns.push_back({cut(varied.texts[place], kWidestValue, Screen{}), true, false});
    if (variant != shown.front()) table.columns.push_back({"", true, false});
  }
  const Report* before = reference(variation);
  for (const Row& row : kRows) {
    if (!worth_a_row(row, variation)) continue;
    std::vector<Cell> cells{row.name};
    for (const Variant* variant : shown) {
      const Report* report = variant->report ? &*variant->report : nullptr;
      const Maybe value = report == nullptr ? std::nullopt : row.value(*report);
      const bool first = table.rows.empty();
      if (report == nullptr) {
        cells.push_back(first ? Cell("failed", Colour::Red) : Cell("-", Colour::Dim));
      } else {
        cells.push_back(value ? Cell(row.format(*value)) : Cell("-", Colour::Dim));
      }
      if (variant == shown.front()) continue;
      cells.push_back(report == nullptr ? Cell() : change_cell(row, *before, *report));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (const std::string& line : split(text, '\n')) widest = std::max(widest, display_width(line));
  return widest;
}

// What all values have in common: "model resnet50, device v100, workers 8".
std::string common_fields(const Variation& variation) {
  std::string text;
  const Json request = parse_json(variation.request);
  for (const RequestField& field : request_fields()) {
    const std::string name(field.name);
    if (!request.contains(name)) continue;
    const Json& value = request[name];
    text += (text.empty() ? "" : ", ") + name + " " +
            (value.is_string() ? value.get<std::string>() : json_text(value));
  }
  return text;
}

}  // namespace

std::string varied_text(const Varied& varied, const Screen& screen) {
  Screen plain = screen;
  plain.colour = false;  // so that lines can be measured
  std::string text = wrap(common_fields(varied.variation), "", screen);
  const std::vector<Variant>& variants = varied.variation.variants;
  const std::size_t count = variants.size();
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = std::max<std::size_t>(begin, 1) + 1;
    while (end < count &&
           widest_line(render(side_by_side(varied, begin, end + 1), plain)) <= screen.width) {
      ++end;
    }
    end = std::min(end, count);
    text += "\n" + render(side_by_side(varied, begin, end), screen);
    begin = end;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!variants[i].error) continue;
    text += "\n" + wrap(variants[i].error->what(),
                        varied.variation.field + " " + varied.texts[i] + ": ", screen);
  }
  return text;
}

std::string cheapest_text(const Varied& varied, Seconds deadline, const Screen& screen) {
  const std::optional<std::size_t> best = cheapest_within(varied.variation, deadline);
  const std::string within = "within " + format_time(deadline);
  if (!best) return wrap("No value ends " + within + ".", "", screen);
  const Report& report = *varied.variation.variants[*best].report;
  const Estimate& time = *report.total_time_s;
  const Estimate& cost = *report.cost_usd;
  std::string text = "Cheapest " + within + ": " + varied.variation.field + " " +
                     varied.texts[*best] + ", " + time_text(time.value) + " and " +
                     format_money(cost.value);
  if (cost.low && cost.high) {
    text += " (" + format_money(*cost.low) + " to " + format_money(*cost.high) + ")";
  }
  if (time.high && *time.high > deadline.count()) {
    text += ". It may take up to " + time_text(*time.high) + " and miss it";
  }
  return wrap(text + ".", "", screen);
}

}  // namespace foretrain::cli

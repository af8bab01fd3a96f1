// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/resource_text.h"

#include "foretrain/base/humanise.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {

const char* pattern_text(resource::Pattern pattern) {
  switch (pattern) {
    case resource::Pattern::B:
      return "busy (B)";
    case resource::Pattern::I:
      return "idle (I)";
    case resource::Pattern::BIB:
      return "bursts (BIB)";
  }
  return "";
}

std::string amount_text(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "B/s") return format_rate(*value);
  if (unit == "B") return format_bytes(*value);
  if (unit == "%") return format_share(*value / 100);
  return significant(*value, 3) + " " + unit;
}

std::string duration_text(const std::optional<Seconds>& time) {
  return time ? format_time(*time) : "-";
}

namespace {

std::string role_table(const RoleReport& role, const Screen& screen) {
  Table table{{{"", false},
               {"pattern", false},
               {"in bursts", true},
               {"in idles", true},
               {"burst lasts", true},
               {"idle lasts", true}},
              {}};
  const auto add = [&](const char* name, const std::optional<ResourceReport>& use) {
    if (!use) return;
    const resource::Bursts& bursts = use->bursts;
    table.rows.push_back({name, pattern_text(bursts.pattern),
                          amount_text(bursts.burst_amount, use->unit),
                          amount_text(bursts.idle_amount, use->unit), duration_text(bursts.burst),
                          duration_text(bursts.idle)});
  };
  add("gpu_util", role.gpu_util);
  add("gpu_memory_util", role.gpu_memory_util);
  add("net_tx", role.net_tx);
  add("net_rx", role.net_rx);
  add("memory_used", role.memory_used);
  return table.rows.empty() ? "" : render(table, screen);
}

}  // namespace

std::string resources_text(const Report& report, const Screen& screen) {
  std::string text;
  const auto add = [&](const char* title, const RoleReport& role) {
    const std::string table = role_table(role, screen);
    if (table.empty()) return;
    text += "\n" + paint(title, Colour::Bold, screen) + "  in windows of " +
            format_count(report.resources.window.count() * 1e3) + " ms\n" + table;
  };
  add("Resources of a worker", report.resources.worker);
  if (report.resources.server) add("Resources of a server", *report.resources.server);
  return text;
}

}  // namespace foretrain::cli

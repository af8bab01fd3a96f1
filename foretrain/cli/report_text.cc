// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/report_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "foretrain/base/humanise.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/bar.h"
#include "foretrain/cli/resource_text.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

constexpr std::size_t kLongestModel = 300;

std::string heading(const std::string& title, const std::string& rest, const Screen& screen) {
  return "\n" + paint(title, Colour::Bold, screen) + (rest.empty() ? "" : "  " + rest) + "\n";
}

// Digits that say something of an estimate whose ends are so far apart.
int digits_of(const Estimate& estimate) {
  if (!estimate.low || !estimate.high || *estimate.low <= 0) return 4;
  const double apart = *estimate.high / *estimate.low;
  return apart >= 1.1 ? 2 : apart >= 1.01 ? 3 : 4;
}

// To that many significant digits: 113 s to two are 110 s.
double rounded(double value, int digits) {
  if (!(std::abs(value) > 0) || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - digits + 1);
  return std::round(value / unit) * unit;
}

std::string time_text(double seconds, int digits) {
  const double value = rounded(seconds, digits);
  if (digits >= 4 || !(value > 0) || !std::isfinite(value)) return format_time(Seconds{seconds});
  if (value >= 60) return format_time(Seconds{value});
  const auto [scale, unit] = value >= 1      ? std::pair(1.0, " s")
                             : value >= 1e-3 ? std::pair(1e3, " ms")
                             : value >= 1e-6 ? std::pair(1e6, " us")
                                             : std::pair(1e9, " ns");
  return significant(value * scale, digits) + unit;
}

std::string money_text(double usd, int digits) {
  return format_money(usd < 100 ? usd : rounded(usd, std::max(digits, 2)));
}

std::string describe_estimate(const Estimate& estimate, std::string (*format)(double, int)) {
  const int digits = digits_of(estimate);
  std::string text = format(estimate.value, digits);
  if (estimate.low && estimate.high) {
    text += " (" + format(*estimate.low, digits) + " to " + format(*estimate.high, digits);
    if (estimate.confidence) text += ", " + significant(100 * *estimate.confidence, 3) + " %";
    text += ")";
  }
  return text;
}

// Its third digit is noise where the time's is.
std::string rate_text(double per_s, const Estimate& time) {
  const int digits = std::max(digits_of(time), 2);
  return format_count(digits >= 4 ? per_s : rounded(per_s, digits));
}

std::string headline(const JobReport& job, const Screen& screen) {
  const auto batch = static_cast<double>(job.batch);
  std::string what = job.mode == Mode::Train ? "training" : "inference";
  what += " in " + std::string(to_string(job.precision)) + " with " + job.framework;
  what += ", batch " + format_count(batch);
  if (job.workers > 1) {
    what += job.data_parallel == job.workers ? " per worker, " : " per data-parallel rank, ";
    what += format_count(batch * job.data_parallel) + " in all";
  }
  const std::string where = job.cluster + (job.servers.empty() ? "" : ", " + job.servers);
  return paint(printable(job.model, kLongestModel), Colour::Bold, screen) + "  " +
         format_large(static_cast<double>(job.parameters)) + " parameters\n" +
         wrap(where, "  ", screen) + wrap(what, "  ", screen);
}

std::string main_numbers(const Report& report, const Screen& screen) {
  Table table{{{"", false, false}, {"", false, true}}, {}};
  const auto add = [&](const char* name, const std::string& value) {
    table.rows.push_back({name, Cell(value, Colour::Bold)});
  };
  add("time per step", describe_time(report.step_time_s));
  const auto rate = [&](double per_s) { return rate_text(per_s, report.step_time_s); };
  std::string throughput = rate(report.samples_per_s) + " samples/s";
  if (report.tokens_per_s) throughput += ", " + rate(*report.tokens_per_s) + " tokens/s";
  add("throughput", throughput);
  if (report.mfu) add("share of peak", format_share(*report.mfu) + " (MFU)");
  if (report.epoch_time_s) add("time per epoch", describe_time(*report.epoch_time_s));
  if (report.total_time_s) add("total time", describe_time(*report.total_time_s));
  if (report.cost_usd) {
    add("cost", describe_money(*report.cost_usd));
    if (!report.price_of.empty()) add("at the price of", report.price_of);
  }
  return "\n" + render(table, screen);
}

// Where the total time goes besides steps, where the request says anything of it.
std::string job_section(const Report& report, const Screen& screen) {
  if (!report.job_time || !report.total_time_s) return "";
  const JobTime& job = *report.job_time;
  std::vector<Part> parts;
  const auto add = [&](const char* name, double seconds) {
    if (seconds > 0) parts.push_back({name, seconds, format_time(Seconds{seconds}), false});
  };
  add("training", job.training);
  add("evaluation", job.evaluation);
  add("checkpoints", job.checkpoints);
  add("lost work", job.lost_work);
  add("restarts", job.restarts);
  add("start-up", job.startup);
  std::string rest = format_time(Seconds{report.total_time_s->value});
  if (job.failures > 0) rest += "; failures expected: " + significant(job.failures, 3);
  return heading("Job", rest, screen) + render_bar(parts, std::nullopt, screen);
}

// "fits (97 %)": with the probability that it is so, where that is known.
std::string verdict_on(const MemoryReport& memory, const Screen& screen) {
  std::string text = memory.fits ? paint("fits", Colour::Green, screen)
                                 : paint("does not fit", Colour::Red, screen);
  if (memory.fit_probability) {
    const double fits = *memory.fit_probability;
    text += " (" + significant(100 * (memory.fits ? fits : 1 - fits), 2) + " %)";
  }
  return text;
}

std::string memory_section(const MemoryReport& memory, const Screen& screen) {
  std::vector<Part> parts;
  const auto add = [&](const char* name, double bytes, bool rest = false) {
    parts.push_back({name, bytes, format_bytes(bytes), rest});
  };
  add("parameters", memory.parameters - memory.gathered);
  if (memory.gathered > 0) add("gathered parameters", memory.gathered);
  add("gradients", memory.gradients);
  add("optimizer", memory.optimizer);
  add("activations", memory.activations);
  add("workspace", memory.workspace);
  add("fragmentation", memory.fragmentation);
  add("framework", memory.framework - memory.communication);
  if (memory.communication > 0) add("communication", memory.communication);
  const double free = memory.capacity - memory.peak;
  add("free", free > 0 ? free : 0, true);
  std::string amounts = format_bytes(memory.peak);
  if (memory.low && memory.high) {
    amounts += " (" + format_bytes(*memory.low) + " to " + format_bytes(*memory.high) + ")";
  }
  amounts += " of " + format_bytes(memory.capacity) + ": ";
  const std::optional<double> mark =
      memory.fits ? std::nullopt : std::optional<double>(memory.capacity);
  return heading("Memory", amounts + verdict_on(memory, screen), screen) +
         render_bar(parts, mark, screen);
}

std::string remedies_section(const Report& report, const Screen& screen) {
  if (report.memory.fits) return "";
  if (report.would_fit.empty()) {
    return heading("What would fit", "", screen) +
           wrap(
               "nothing that was tried: passes of one sample, recomputation, sharding, offload, "
               "weights "
               "in 16 or 4 bits, 8-bit states, adapters, larger devices",
               "  ", screen);
  }
  std::string text = heading("What would fit", "the fastest per sample first", screen);
  for (const Remedy& remedy : report.would_fit) {
    text += wrap(format_count(remedy.samples_per_s) + " samples/s, " +
                     format_time(Seconds{remedy.step_time_s}) + " per step, " +
                     format_bytes(remedy.peak_bytes) + " of " +
                     format_bytes(remedy.capacity_bytes) + ": " + remedy.change,
                 "  - ", screen);
  }
  return text;
}

std::string breakdown_section(const Report& report, const Screen& screen) {
  const Breakdown& breakdown = report.breakdown;
  const double step = report.step_time_s.value;
  std::vector<Part> parts;
  const auto add = [&](const char* name, Seconds time) {
    parts.push_back({name, time.count(), format_share(step > 0 ? time.count() / step : 0), false});
  };
  add("compute", breakdown.compute);
  add("memory", breakdown.memory);
  add("exposed communication", breakdown.exposed_communication);
  add("host", breakdown.host);
  add("bubble", breakdown.bubble);
  add("input", breakdown.input);
  std::string rest = format_time(Seconds{step});
  if (report.communication > Seconds{0}) {
    rest += "; communication, hidden or not: " + format_time(report.communication);
  }
  return heading("Step", rest, screen) + render_bar(parts, std::nullopt, screen);
}

std::string operators_section(const Report& report, const Screen& screen) {
  if (report.top_operators.empty()) return "";
  Table table{{{"operator", false, true}, {"kind", false, true}, {"time", true}, {"share", true}},
              {}};
  for (const OperatorReport& entry : report.top_operators) {
    table.rows.push_back({entry.name.empty() ? "-" : entry.name, entry.kind,
                          format_time(entry.time), format_share(entry.share)});
  }
  return heading("Slowest operators", "", screen) + render(table, screen);
}

std::string notes(const char* title, const std::vector<std::string>& list, Colour colour,
                  const Screen& screen) {
  if (list.empty()) return "";
  std::string text = "\n" + paint(title, colour, screen) + "\n";
  for (const std::string& note : list) text += wrap(note, "  - ", screen);
  return text;
}

}  // namespace

std::string describe_time(const Estimate& seconds) { return describe_estimate(seconds, time_text); }

std::string describe_money(const Estimate& usd) { return describe_estimate(usd, money_text); }

std::string report_text(const Report& report, const Screen& screen) {
  std::string text = headline(report.job, screen);
  text += main_numbers(report, screen);
  text += job_section(report, screen);
  text += memory_section(report.memory, screen);
  text += remedies_section(report, screen);
  text += breakdown_section(report, screen);
  text += operators_section(report, screen);
  text += resources_text(report, screen);
  text += notes("Assumptions", report.assumptions, Colour::Bold, screen);
  text += notes("Warnings", report.warnings, Colour::Yellow, screen);
  return text;
}

}  // namespace foretrain::cli

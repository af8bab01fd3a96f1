// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/humanise.h"
#include "foretrain/cli/progress.h"
#include "foretrain/lab/campaign.h"
#include "foretrain/lab/collect.h"
#include "foretrain/lab/isolate.h"

namespace foretrain::cli {
namespace {

constexpr std::uintmax_t kMostCampaignBytes = 16 << 20;

struct Options {
  std::string campaign;
  std::string store = "lab.db";
  std::string python;
  std::string log;
  std::optional<double> foreign_cores;
  std::size_t most = SIZE_MAX;
  bool plain = false;
  bool dry = false;
  bool json = false;
};

lab::WorkerOptions worker_options(const Options& options) {
  lab::WorkerOptions workers;
  const char* named = std::getenv("FORETRAIN_LAB_PYTHON");
  if (named != nullptr) workers.python = named;
  if (!options.python.empty()) workers.python = options.python;
  workers.error_file = options.log;
  return workers;
}

// The command again, for its own namespaces.
std::vector<std::string> words_of(const Options& options) {
  std::vector<std::string> words{"collect", options.campaign, "--store", options.store};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--python", options.python);
  add("--log", options.log);
  if (options.foreign_cores) add("--foreign-cores", std::to_string(*options.foreign_cores));
  if (options.most != SIZE_MAX) add("--most", std::to_string(options.most));
  if (options.json) words.emplace_back("--json");
  return words;
}

std::string describe(const lab::Event& event) {
  const store::Run& run = *event.run;
  std::string text = std::to_string(event.done) + "/" + std::to_string(event.total) + "  " +
                     event.setting->name + "  " + event.configuration->model + " batch " +
                     std::to_string(event.configuration->batch) + "  ";
  if (run.wall_s) text += "whole " + format_time(Seconds(*run.wall_s)) + ", ";
  if (run.step_median_s) text += "step " + format_time(Seconds(*run.step_median_s));
  if (run.status != "ok") text += " " + run.status;
  if (!run.message.empty()) text += ": " + printable(run.message, 200);
  if (event.left) text += "  (" + format_time(*event.left) + " left)";
  return text;
}

void plan_text(const lab::Campaign& campaign, Console& console) {
  for (const lab::Setting& setting : campaign.settings) {
    std::size_t steps = 0;
    std::size_t whole = 0;
    std::size_t test = 0;
    for (const lab::Configuration& one : campaign.configurations) {
      if (&campaign.settings[static_cast<std::size_t>(one.setting)] != &setting) continue;
      ++(one.whole() ? whole : steps);
      if (one.split == "test") ++test;
    }
    console.line(setting.name + ": " + std::to_string(steps) + " configurations, " +
                 std::to_string(whole) + " whole jobs, " + std::to_string(test) + " of them test");
  }
  console.line(std::to_string(campaign.tasks.size()) + " runs in all");
}

void print_summary(const lab::Summary& summary, const Options& options, Console& console) {
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.field("total", static_cast<double>(summary.total));
    json.field("found", static_cast<double>(summary.found));
    json.field("measured", static_cast<double>(summary.measured));
    json.field("missing", static_cast<double>(summary.missing));
    console.line(json.end_object().finish());
    return;
  }
  console.line(std::to_string(summary.total) + " runs: " + std::to_string(summary.found) +
               " were there, " + std::to_string(summary.measured) + " measured, " +
               std::to_string(summary.missing) + " tried without success");
}

void run_campaign(const Options& options, Console& console) {
  const std::string where = named(options.campaign);
  lab::Campaign campaign =
      lab::read_campaign(read_file(options.campaign, kMostCampaignBytes), where);
  if (options.foreign_cores) campaign.most_foreign_cores = *options.foreign_cores;
  if (options.dry) return plan_text(campaign, console);
  lab::CollectOptions collect;
  collect.isolated = !options.plain && campaign.hosts.empty() && lab::isolate(words_of(options));
  collect.workers = worker_options(options);
  collect.workers.threads = campaign.threads;
  collect.most = options.most;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  Progress progress("runs");
  collect.on_event = [&](const lab::Event& event) {
    const double share = static_cast<double>(event.done) / static_cast<double>(event.total);
    if (terminal) return progress.show(event.done, share, event.left);
    std::fprintf(stderr, "%s\n", describe(event).c_str());
  };
  collect.on_note = [](const std::string& note) {
    std::fprintf(stderr, "foretrain: %s\n", printable(note, 300).c_str());
  };
  store::Store store(options.store);
  print_summary(lab::collect(campaign, store, collect), options, console);
}

void add_options(CLI::App& command, Options& options) {
  command.add_option("campaign", options.campaign, "file that says what to measure")->required();
  command.add_option("--store", options.store, "where measurements are kept (lab.db)")
      ->type_name("FILE");
  command.add_option("--python", options.python,
                     "a Python with PyTorch (FORETRAIN_LAB_PYTHON, else python3)");
  command.add_option("--log", options.log, "file for what workers say")->type_name("FILE");
  command.add_option("--foreign-cores", options.foreign_cores,
                     "repeat runs while others use more cores than this (campaign's, 0.1)");
  command.add_option("--most", options.most, "stop after this many runs")->type_name("N");
  command.add_flag("--plain", options.plain, "plain processes, no namespaces");
  command.add_flag("--dry-run", options.dry, "only count what would run");
  command.add_flag("--json", options.json, "print the summary as JSON");
}

}  // namespace

void add_collect_command(CLI::App& app, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("collect", "run many real jobs, store the measurements");
  command.footer(
      "Example:\n  foretrain collect data/lab/campaign.json --store lab.db\n\n"
      "What is in the store is not run again: after an interruption the same command goes on.\n"
      "docs/lab.md describes campaign files.");
  add_options(command, *options);
  command.callback([options, &console] { run_campaign(*options, console); });
}

}  // namespace foretrain::cli

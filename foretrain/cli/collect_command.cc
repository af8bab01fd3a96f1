// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/json.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/collect_parts.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/spread.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/lab/cgroups.h"
#include "foretrain/lab/collect.h"
#include "foretrain/lab/interrupt.h"
#include "foretrain/lab/isolate.h"
#include "foretrain/lab/plan.h"
#include "foretrain/request/find_model.h"

namespace foretrain::cli {
namespace {

constexpr int kIncomplete = 1;
constexpr int kInterrupted = 130;

struct Options : CollectCommon {
  std::string campaign;
  std::optional<double> foreign_cores;
  double patience_s = 30;
  std::vector<std::string> settings;
  std::size_t most = SIZE_MAX;
  bool dry = false;
  Spread spread;
};

lab::WorkerOptions worker_options(const CollectCommon& options) {
  lab::WorkerOptions workers;
  const char* named = std::getenv("FORETRAIN_LAB_PYTHON");
  if (named != nullptr) workers.python = named;
  if (!options.python.empty()) workers.python = options.python;
  workers.error_file = options.log;
  return workers;
}

std::string describe(const lab::Event& event) {
  const store::Run& run = *event.run;
  std::string text = std::to_string(event.done) + "/" + std::to_string(event.total) + "  " +
                     printable(event.setting->name) + "  " + printable(event.configuration->model) +
                     " batch " + std::to_string(event.configuration->batch) + "  ";
  if (run.wall_s) text += "whole " + format_time(Seconds(*run.wall_s)) + ", ";
  if (run.step_median_s) text += "step " + format_time(Seconds(*run.step_median_s));
  if (run.status != "ok") text += " " + run.status;
  if (!run.message.empty()) text += ": " + printable(run.message, 200);
  if (event.left) text += "  (" + format_time(*event.left) + " left)";
  return text;
}

// What `collect` could give to hosts, were it run now.
lab::Means means_of(const Options& options) {
  return {.shaped_links = !options.plain && lab::may_isolate(), .core_shares = lab::may_limit()};
}

// Every model must be there, as when it is run.
void check_models(const lab::Campaign& campaign) {
  const std::vector<std::string> models = lab::models_of(campaign);
  Progress progress("models");
  for (std::size_t i = 0; i < models.size(); ++i) {
    progress.show(i, static_cast<double>(i) / static_cast<double>(models.size()));
    find_model(models[i]);
  }
}

void plan_json(const lab::Campaign& campaign, const std::vector<lab::SettingPlan>& plan,
               const lab::Summary& sum, Console& console) {
  const auto put = [](JsonWriter& json, const char* name, std::size_t count) {
    json.field(name, static_cast<double>(count));
  };
  JsonWriter json;
  json.begin_object().key("settings").begin_array();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    json.begin_object().field("name", campaign.settings[i].name);
    put(json, "configurations", plan[i].configurations);
    put(json, "whole", plan[i].whole);
    put(json, "test", plan[i].test);
    put(json, "total", plan[i].runs);
    put(json, "found", plan[i].found);
    json.field("obstacle", plan[i].obstacle).end_object();
  }
  json.end_array();
  put(json, "total", sum.total);
  put(json, "found", sum.found);
  put(json, "left_out", sum.left_out);
  console.line(json.end_object().finish());
}

void plan_text(const lab::Campaign& campaign, const std::vector<lab::SettingPlan>& plan,
               const lab::Summary& sum, Console& console) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const lab::SettingPlan& one = plan[i];
    std::string text = printable(campaign.settings[i].name) + ": " +
                       std::to_string(one.configurations) + " configurations, " +
                       std::to_string(one.whole) + " whole jobs, " + std::to_string(one.test) +
                       " of them test; " + std::to_string(one.found) + " of " +
                       std::to_string(one.runs) + " runs are there";
    if (!one.obstacle.empty()) text += "; left out: " + one.obstacle;
    console.line(text);
  }
  console.line(std::to_string(sum.total) + " runs in all: " + std::to_string(sum.found) +
               " are there, " + std::to_string(sum.total - sum.found - sum.left_out) +
               " would run, " + std::to_string(sum.left_out) + " are left out");
}

// What would run, without running it.
void dry_run(const lab::Campaign& campaign, const Options& options, Console& console) {
  check_models(campaign);
  std::optional<store::Store> store;
  if (std::filesystem::exists(options.store)) {
    store.emplace(options.store, store::OpenMode::ReadOnly);
  }
  const lab::Means means = campaign.hosts.empty() ? means_of(options) : lab::Means{};
  const std::vector<lab::SettingPlan> plan = plan_of(campaign, store ? &*store : nullptr, means);
  lab::Summary sum;
  for (const lab::SettingPlan& one : plan) {
    sum.total += one.runs;
    sum.found += one.found;
    if (!one.obstacle.empty()) sum.left_out += one.runs - one.found;
  }
  (options.json ? plan_json : plan_text)(campaign, plan, sum, console);
}

void print_summary(const lab::Summary& summary, const Options& options, Console& console) {
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.field("total", static_cast<double>(summary.total));
    json.field("found", static_cast<double>(summary.found));
    json.field("measured", static_cast<double>(summary.measured));
    json.field("missing", static_cast<double>(summary.missing));
    json.field("left_out", static_cast<double>(summary.left_out));
    console.line(json.end_object().finish());
    return;
  }
  console.line(std::to_string(summary.total) + " runs: " + std::to_string(summary.found) +
               " were there, " + std::to_string(summary.measured) + " measured, " +
               std::to_string(summary.missing) + " tried without success, " +
               std::to_string(summary.left_out) + " left out");
}

lab::Summary run_with_progress(const lab::Campaign& campaign, store::Store& store,
                               lab::CollectOptions& collect) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  Progress progress("runs");
  collect.on_event = [&](const lab::Event& event) {
    const double share = static_cast<double>(event.done) / static_cast<double>(event.total);
    if (terminal) return progress.show(event.done, share, event.left);
    std::fprintf(stderr, "%s\n", describe(event).c_str());
  };
  return lab::collect(campaign, store, collect);
}

// A line per run that the store does not have.
void list_runs(const lab::Campaign& campaign, const Options& options, Console& console) {
  std::optional<store::Store> store;
  if (std::filesystem::exists(options.store)) {
    store.emplace(options.store, store::OpenMode::ReadOnly);
  }
  for (const lab::PlannedRun& run : campaign.planned) {
    const auto index = static_cast<std::size_t>(run.configuration);
    const std::string& text = campaign.configurations[index].text;
    if (store && store->has(campaign.name, text, run.repeat)) continue;
    JsonWriter json;
    json.begin_object().field("configuration", static_cast<double>(run.configuration));
    json.field("repeat", static_cast<double>(run.repeat));
    console.line(json.end_object().finish());
  }
}

// Leaves the runs that are listed on standard input.
void keep_listed(lab::Campaign& campaign) {
  std::set<std::pair<std::int64_t, std::int64_t>> listed;
  for (const std::string& line : read_pieces()) {
    const Json json = parse_json(line, "--work do");
    JsonFields fields(json, "--work do");
    listed.emplace(fields.integer("configuration").value_or(-1),
                   fields.integer("repeat").value_or(-1));
  }
  std::erase_if(campaign.planned, [&](const lab::PlannedRun& run) {
    return !listed.contains({run.configuration, run.repeat});
  });
}

void run_campaign(const Options& options, Console& console) {
  if (options.campaign.empty()) {
    throw Error(ErrorKind::BadInput,
                "collect: name a campaign file, or say 'operators' or 'collectives'");
  }
  const std::string where = named(options.campaign);
  lab::Campaign campaign =
      lab::read_campaign(read_file(options.campaign, kMostCampaignBytes), where);
  if (options.foreign_cores) campaign.most_foreign_cores = *options.foreign_cores;
  if (!options.settings.empty()) lab::keep_settings(campaign, options.settings);
  if (options.dry) return dry_run(campaign, options, console);
  spread_where_asked(options.spread.on, console);
  if (options.spread.work == "list") return list_runs(campaign, options, console);
  lab::CollectOptions collect;
  collect.isolated = !options.plain && campaign.hosts.empty() && lab::isolate();
  if (options.spread.work == "do") keep_listed(campaign);  // not before: isolate starts anew
  collect.most = options.most;
  collect.patience = Seconds(options.patience_s);
  collect.on_note = print_note;
  store::Store store(options.store);
  constexpr const char* kAdvice = "what was measured is kept, the same command goes on from there";
  interruptible(options, kAdvice, console, [&](const lab::WorkerOptions& workers) {
    collect.workers = workers;
    collect.workers.threads = campaign.threads;
    const lab::Summary summary = run_with_progress(campaign, store, collect);
    print_summary(summary, options, console);
    if (summary.missing + summary.left_out > 0) console.exit_code = kIncomplete;
  });
}

void add_campaign_options(Command& command, Options& options) {
  command.add_option("campaign", options.campaign, "file that says what to measure");
  command
      .add_option("--foreign-cores", options.foreign_cores,
                  "repeat runs while others use more cores than this (campaign's, 0.1)")
      .check(number_range(0, 1e6));
  command
      .add_option("--patience", options.patience_s,
                  "seconds to wait, before each run, for others to use fewer cores (30)")
      .check(number_range(0, 1e6));
  command.add_option("--setting", options.settings, "only runs of these settings (all)")
      .type_name("NAME");
  command.add_option("--most", options.most, "stop after this many runs").type_name("N");
  command.add_flag("--dry-run", options.dry, "check all and count what would run");
  add_spread_options(command, options.spread, true);
  add_collect_common(command, options);
}

}  // namespace

void add_collect_common(Command& command, CollectCommon& options) {
  command.add_option("--store", options.store, "where measurements are kept (foretrain.db)")
      .type_name("FILE");
  command.add_option("--python", options.python,
                     "a Python with PyTorch (FORETRAIN_LAB_PYTHON, else python3)");
  command.add_option("--log", options.log, "file for what workers say").type_name("FILE");
  command.add_flag("--plain", options.plain, "plain processes, no namespaces");
  command.add_flag("--json", options.json, "print the summary as JSON");
}

void interruptible(const CollectCommon& options, const char* advice, Console& console,
                   const std::function<void(const lab::WorkerOptions&)>& work) {
  const lab::Interrupt interrupt;
  lab::WorkerOptions workers = worker_options(options);
  workers.interrupt = &interrupt;
  try {
    work(workers);
  } catch (const Error&) {
    if (!interrupt.raised()) throw;
  }
  if (!interrupt.raised()) return;
  std::fprintf(stderr, "foretrain: interrupted; %s\n", advice);
  console.exit_code = kInterrupted;
}

void print_note(const std::string& note) {
  std::fprintf(stderr, "foretrain: %s\n", printable(note, 300).c_str());
}

void add_collect_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command = app.add_subcommand(
      "collect", "run many real jobs, or time operators and collectives; store the measurements");
  command.footer(
      "Examples:\n"
      "  foretrain collect data/lab/campaign.json --store lab.db\n"
      "  foretrain collect operators resnet18-cifar --batch 8,32\n"
      "  foretrain collect collectives --ranks 2 --network 1gbps\n\n"
      "What is in the store is not run again: after an interruption the same command goes on.\n"
      "Settings that this machine cannot give are left out, which is said before anything runs.\n"
      "Exit code 1 where runs are missing. docs/collect.md describes campaign files.");
  add_campaign_options(command, *options);
  add_collect_timings(command, console);
  command.require_subcommand(0, 1);
  command.callback([options, &console, &command] {
    if (!command.subcommand_given()) run_campaign(*options, console);
  });
}

}  // namespace foretrain::cli

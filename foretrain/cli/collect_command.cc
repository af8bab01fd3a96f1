// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/humanise.h"
#include "foretrain/cli/progress.h"
#include "foretrain/lab/benchmarks.h"
#include "foretrain/lab/campaign.h"
#include "foretrain/lab/collect.h"
#include "foretrain/lab/interrupt.h"
#include "foretrain/lab/isolate.h"

namespace foretrain::cli {
namespace {

constexpr std::uintmax_t kMostCampaignBytes = 16 << 20;
constexpr int kInterrupted = 130;

// What all three forms of the command have.
struct Common {
  std::string store = "foretrain.db";
  std::string python;
  std::string log;
  bool plain = false;
  bool json = false;
};

struct Options : Common {
  std::string campaign;
  std::optional<double> foreign_cores;
  std::size_t most = SIZE_MAX;
  bool dry = false;
};

struct OperatorOptions : Common {
  lab::OperatorPlan plan;
  std::string file;
};

struct CollectiveOptions : Common {
  lab::CollectivePlan plan;
};

lab::WorkerOptions worker_options(const Common& options) {
  lab::WorkerOptions workers;
  const char* named = std::getenv("FORETRAIN_LAB_PYTHON");
  if (named != nullptr) workers.python = named;
  if (!options.python.empty()) workers.python = options.python;
  workers.error_file = options.log;
  return workers;
}

// Runs `work`, which takes the workers' options, so that Ctrl-C ends it in order. The lab's
// namespaces must be there before: a program that replaces this one would inherit what is noted.
template <typename Work>
void interruptible(const Common& options, const char* advice, Console& console, const Work& work) {
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

void run_campaign(const Options& options, Console& console) {
  if (options.campaign.empty()) {
    throw Error(ErrorKind::BadInput,
                "collect: name a campaign file, or say 'operators' or 'collectives'");
  }
  const std::string where = named(options.campaign);
  lab::Campaign campaign =
      lab::read_campaign(read_file(options.campaign, kMostCampaignBytes), where);
  if (options.foreign_cores) campaign.most_foreign_cores = *options.foreign_cores;
  if (options.dry) return plan_text(campaign, console);
  lab::CollectOptions collect;
  collect.isolated = !options.plain && campaign.hosts.empty() && lab::isolate();
  collect.most = options.most;
  collect.on_note = [](const std::string& note) {
    std::fprintf(stderr, "foretrain: %s\n", printable(note, 300).c_str());
  };
  store::Store store(options.store);
  constexpr const char* kAdvice = "what was measured is kept, the same command goes on from there";
  interruptible(options, kAdvice, console, [&](const lab::WorkerOptions& workers) {
    collect.workers = workers;
    collect.workers.threads = campaign.threads;
    print_summary(run_with_progress(campaign, store, collect), options, console);
  });
}

template <typename Row>
void report_timings(const lab::Timings<Row>& timings, const Common& options, Console& console) {
  for (const std::string& reason : timings.skipped) {
    std::fprintf(stderr, "foretrain: not timed: %s\n", printable(reason, 300).c_str());
  }
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.field("rows", static_cast<double>(timings.rows.size()));
    json.field("skipped", static_cast<double>(timings.skipped.size()));
    console.line(json.end_object().finish());
    return;
  }
  console.line(std::to_string(timings.rows.size()) + " times are in " + printable(options.store));
}

constexpr const char* kNothingKept = "nothing is kept of it";

template <typename Row>
void keep(const lab::Timings<Row>& timings, void (store::Store::*append)(std::span<const Row>),
          const Common& options) {
  store::Store store(options.store);
  store.in_transaction([&] {
    store.put_machine(timings.machine);
    (store.*append)(timings.rows);
  });
}

void run_operators(OperatorOptions& options, Console& console) {
  if (!options.file.empty()) options.plan.lines = read_file(options.file, kMostCampaignBytes);
  if (options.plan.models.empty() && options.file.empty()) {
    throw Error(ErrorKind::BadInput, "collect operators: name models, or a plan by --plan");
  }
  const bool isolated = !options.plain && lab::isolate();
  interruptible(options, kNothingKept, console, [&](const lab::WorkerOptions& workers) {
    const auto timings = lab::time_operators(options.plan, workers, isolated);
    keep(timings, &store::Store::append_operators, options);
    report_timings(timings, options, console);
  });
}

void run_collectives(CollectiveOptions& options, Console& console) {
  const bool isolated = !options.plain && lab::isolate();
  interruptible(options, kNothingKept, console, [&](const lab::WorkerOptions& workers) {
    const auto timings = lab::time_collectives(options.plan, workers, isolated);
    keep(timings, &store::Store::append_collectives, options);
    report_timings(timings, options, console);
  });
}

void add_common(CLI::App& command, Common& options) {
  command.add_option("--store", options.store, "where measurements are kept (foretrain.db)")
      ->type_name("FILE");
  command.add_option("--python", options.python,
                     "a Python with PyTorch (FORETRAIN_LAB_PYTHON, else python3)");
  command.add_option("--log", options.log, "file for what workers say")->type_name("FILE");
  command.add_flag("--plain", options.plain, "plain processes, no namespaces");
  command.add_flag("--json", options.json, "print the summary as JSON");
}

void add_operators(CLI::App& parent, Console& console) {
  auto options = std::make_shared<OperatorOptions>();
  CLI::App& command = *parent.add_subcommand("operators", "time operators on this machine");
  command.footer(
      "Example:\n  foretrain collect operators resnet18-cifar lstm-lm --batch 8,32 --store lab.db");
  options->plan.batches = {1};
  command.add_option("models", options->plan.models, "models whose operators are timed");
  command.add_option("--batch", options->plan.batches, "at these batches (1)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}).description(""));
  command.add_option("--plan", options->file, "operators as lines of JSON")->type_name("FILE");
  add_common(command, *options);
  command.callback([options, &console] { run_operators(*options, console); });
}

void add_collectives(CLI::App& parent, Console& console) {
  auto options = std::make_shared<CollectiveOptions>();
  CLI::App& command = *parent.add_subcommand("collectives", "time collectives between processes");
  command.footer("Example:\n  foretrain collect collectives --ranks 2 --network 1gbps");
  for (std::int64_t size = 1024; size <= 64 << 20; size *= 4) options->plan.sizes.push_back(size);
  command.add_option("--ranks", options->plan.ranks, "processes (2)")
      ->check(CLI::Range(2, 64).description(""));
  command.add_option("--network", options->plan.network, "rate of each link; default: not shaped")
      ->type_name("RATE");
  command.add_option("--bytes", options->plan.sizes, "of each rank (1 KiB to 64 MiB)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{1} << 34).description(""));
  add_common(command, *options);
  command.callback([options, &console] { run_collectives(*options, console); });
}

void add_campaign_options(CLI::App& command, Options& options) {
  command.add_option("campaign", options.campaign, "file that says what to measure");
  command.add_option("--foreign-cores", options.foreign_cores,
                     "repeat runs while others use more cores than this (campaign's, 0.1)");
  command.add_option("--most", options.most, "stop after this many runs")->type_name("N");
  command.add_flag("--dry-run", options.dry, "only count what would run");
  add_common(command, options);
}

}  // namespace

void add_collect_command(CLI::App& app, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand(
      "collect", "run many real jobs, or time operators and collectives; store the measurements");
  command.footer(
      "Examples:\n"
      "  foretrain collect data/lab/campaign.json --store lab.db\n"
      "  foretrain collect operators resnet18-cifar --batch 8,32\n"
      "  foretrain collect collectives --ranks 2 --network 1gbps\n\n"
      "What is in the store is not run again: after an interruption the same command goes on.\n"
      "docs/collect.md describes campaign files.");
  add_campaign_options(command, *options);
  add_operators(command, console);
  add_collectives(command, console);
  command.require_subcommand(0, 1);
  command.callback([options, &console, &command] {
    if (command.get_subcommands().empty()) run_campaign(*options, console);
  });
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/simulate_chart.h"
#include "foretrain/cli/simulate_run.h"

namespace foretrain::cli {
namespace {

struct Options {
  SimulateOptions simulate;
  bool json = false;
  std::string jobs;
  std::string events;
  std::string chart;
  std::vector<std::string> sweep;
  int seeds = 1;
  int threads = 0;
};

void run_one(const Options& options, SimulateRun& simulation, Console& console) {
  Output jobs(options.jobs, console);
  Output events(options.events, console);
  Output drawing(options.chart, console);
  jobs.write(jobs_header());
  events.write(events_header());
  std::optional<ChartData> chart;
  if (drawing.wanted()) chart.emplace(simulation.devices());
  Progress progress("simulating", options.jobs != "-" && options.events != "-");
  std::size_t ended_jobs = 0;
  const auto all = static_cast<double>(simulation.jobs_in_all());
  sched::Watch watch;
  watch.on_ended = [&](const sched::Active& ended, Seconds now) {
    if (jobs.wanted()) jobs.write(jobs_line(ended, now));
    ++ended_jobs;
    progress.show(ended_jobs, static_cast<double>(ended_jobs) / all);
  };
  if (events.wanted() || chart) {
    watch.observer.on_event = [&](sched::Happening what, Seconds now, const sched::Active* active,
                                  int node) {
      if (events.wanted()) events.write(events_line(what, now, active, node));
      if (chart) chart->add(what, now, active);
    };
  }
  const SimulationReport report =
      simulation.run(options.simulate.policy, options.simulate.seed, watch);
  jobs.close();
  events.close();
  if (chart) drawing.write(chart_text(*chart, report, options.chart));
  drawing.close();
  if (options.jobs == "-" || options.events == "-" || options.chart == "-") return;
  if (options.json) return console.line(simulation_json(report));
  console.write(simulation_text(report, console.screen));
}

// Every policy with every seed, by several threads; the answers are in the order asked.
std::vector<SimulationReport> run_many(const Options& options, SimulateRun& simulation) {
  const auto seeds = static_cast<std::size_t>(options.seeds);
  std::vector<SimulationReport> reports(options.sweep.size() * seeds);
  std::vector<std::exception_ptr> problems(reports.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < reports.size(); i = next++) {
      try {
        reports[i] = simulation.run(options.sweep[i / seeds], options.simulate.seed + i % seeds);
      } catch (...) {
        problems[i] = std::current_exception();
      }
    }
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads =
      options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores;
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, reports.size()); ++i) others.emplace_back(work);
  work();
  others.clear();  // waits for them
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
  return reports;
}

void run_simulate(const Options& options, Console& console) {
  const Library library = load_library();
  for (const std::string& policy : options.sweep) sched::find_policy(policy);
  sched::find_policy(options.simulate.policy);
  sched::find_placement(options.simulate.placement);
  SimulateRun simulation(options.simulate, library);
  if (options.sweep.empty() && options.seeds == 1) return run_one(options, simulation, console);
  if (!options.jobs.empty() || !options.events.empty() || !options.chart.empty()) {
    throw Error(ErrorKind::BadInput,
                "--jobs, --events and --chart show one simulation; leave out --sweep and --seeds");
  }
  Options many = options;
  if (many.sweep.empty()) many.sweep = {options.simulate.policy};
  const std::vector<SimulationReport> reports = run_many(many, simulation);
  if (options.json) return console.line(sweep_json(reports));
  console.write(sweep_text(reports, console.screen));
}

std::string list_of_policies() {
  std::string text = "Policies:\n";
  for (const sched::PolicyEntry& entry : sched::policies()) {
    text += "  " + std::string(entry.name) + std::string(14 - entry.name.size(), ' ') +
            std::string(entry.meaning) + "\n";
  }
  text += "Placements:\n";
  for (const sched::Placement& placement : sched::placements()) {
    text += "  " + std::string(placement.name) + std::string(14 - placement.name.size(), ' ') +
            std::string(placement.meaning) + "\n";
  }
  return text;
}

constexpr double kLongest = 1e12;  // seconds

void add_number(CLI::App& command, const char* name, double& value, const char* meaning) {
  command.add_option(name, value, meaning)->type_name("S")->check(number_range(0, kLongest));
}

CLI::Option* add_text(CLI::App& command, const char* name, std::string& value, const char* meaning,
                      const char* type) {
  return command.add_option(name, value, meaning)->type_name(type);
}

void add_question(CLI::App& command, SimulateOptions& options) {
  add_text(command, "trace", options.trace, "a file, - for standard input, or generate:jobs=N,...",
           "TRACE")
      ->required();
  add_text(command, "--cluster", options.cluster, "cluster file, or NODESxDEVICES", "FILE")
      ->required();
  add_text(command, "--policy", options.policy, "who runs (fifo)", "POLICY");
  add_text(command, "--placement", options.placement, "where (anywhere)", "PLACEMENT");
  command.add_option("--limits", options.limits, "of Tiresias's queues in seconds (3250,7200)")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_range(0, kLongest));
  add_number(command, "--round", options.round_s, "seconds that a round of max-min lasts (360)");
  command.add_flag("--drop-unfit", options.drop_unfit, "leave out jobs larger than the cluster");
}

void add_uncertainty(CLI::App& command, SimulateOptions& options) {
  add_text(command, "--durations", options.durations,
           "what happens to jobs with duration and request: trace, placed or engine (trace)",
           "HOW");
  add_text(command, "--predictions", options.predictions,
           "what policies are told: exact or engine (exact)", "HOW");
  command
      .add_option("--prediction-error", options.prediction_error,
                  "tell policies the truth times 1 +- up to this, 0 to 1")
      ->type_name("X")
      ->check(number_range(0, 1));
  command.add_flag("--draw-durations", options.draw,
                   "draw durations from the intervals of the predictions");
  add_number(command, "--restart-cost", options.restart_s, "seconds that resuming a job takes (0)");
  add_number(command, "--checkpoint-interval", options.checkpoint_s,
             "seconds of work between checkpoints; a failure loses the rest (0: nothing)");
  add_number(command, "--mtbf", options.mtbf_s,
             "mean seconds between failures of a node (0: never)");
  add_number(command, "--repair", options.repair_s, "seconds to repair a node (3600)");
  command.add_option("--seed", options.seed, "of all that is random (0)")->type_name("N");
}

void add_output(CLI::App& command, Options& options) {
  command.add_flag("--json", options.json, "print the result as JSON");
  add_text(command, "--jobs", options.jobs, "write a CSV line per job", "FILE|-");
  add_text(command, "--events", options.events, "write a CSV line per event", "FILE|-");
  add_text(command, "--chart", options.chart,
           "write utilisation, queue and a Gantt chart (.svg or .html)", "FILE|-");
  command.add_option("--sweep", options.sweep, "compare these policies")
      ->type_name("A,B,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--seeds", options.seeds, "simulate with this many seeds (1)")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000).description(""));
  command.add_option("--threads", options.threads, "of --sweep and --seeds (one per core)")
      ->type_name("N")
      ->check(CLI::Range(1, 256).description(""));
}

}  // namespace

void add_simulate_command(CLI::App& app, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("simulate", "schedule a job trace on a cluster");
  command.footer(
      "Examples:\n"
      "  foretrain simulate trace.csv --cluster cluster.json --policy srtf\n"
      "  foretrain simulate generate:jobs=10000,load=1.1 --cluster 16x8 --sweep "
      "fifo,easy,srtf\n\n" +
      list_of_policies() + "\ndocs/simulator.md describes traces, clusters and policies.");
  add_question(command, options->simulate);
  add_uncertainty(command, options->simulate);
  add_output(command, *options);
  command.callback([options, &console] { run_simulate(*options, console); });
}

}  // namespace foretrain::cli

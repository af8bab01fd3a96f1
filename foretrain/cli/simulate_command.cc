// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <iterator>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/escape_xml.h"
#include "foretrain/base/json.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/simulate_text.h"
#include "foretrain/cli/spread.h"
#include "foretrain/fleet/chart_svg.h"
#include "foretrain/fleet/simulation.h"
#include "foretrain/fleet/simulation_rows.h"

namespace foretrain::cli {
namespace {

struct Options {
  fleet::SimulationRequest request;
  bool json = false;
  std::string jobs;
  std::string events;
  std::string chart;
  Spread spread;
};

// The picture; inside a page with the figures of the report where `path` ends in ".html".
std::string drawing_of(const fleet::Chart& chart, const fleet::SimulationReport& report,
                       const std::string& path) {
  const std::string svg = fleet::chart_svg(chart, report.policy);
  if (!path.ends_with(".html")) return svg;
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" +
         escape_xml(report.policy) + "</title>\n<pre>\n" +
         escape_xml(simulation_text(report, Screen{})) + "</pre>\n" + svg + "</html>\n";
}

void run_one(const Options& options, fleet::Simulation& simulation, Console& console) {
  Output jobs(options.jobs, console);
  Output events(options.events, console);
  Output drawing(options.chart, console);
  jobs.write(fleet::jobs_header());
  events.write(fleet::events_header());
  std::optional<fleet::ChartRecorder> chart;
  if (drawing.wanted()) chart.emplace(simulation.devices());
  Progress progress("simulating", options.jobs != "-" && options.events != "-");
  std::size_t ended_jobs = 0;
  const auto all = static_cast<double>(simulation.jobs_in_all());
  sched::Watch watch;
  watch.on_ended = [&](const sched::Active& ended, Seconds now) {
    if (jobs.wanted()) jobs.write(fleet::jobs_line(fleet::job_times(ended, now)));
    ++ended_jobs;
    progress.show(ended_jobs, static_cast<double>(ended_jobs) / all);
  };
  if (events.wanted() || chart) {
    watch.observer.on_event = [&](sched::Happening what, Seconds now, const sched::Active* active,
                                  int node) {
      if (events.wanted()) events.write(fleet::events_line(what, now, active, node));
      if (chart) chart->add(what, now, active);
    };
  }
  const fleet::SimulationReport report =
      simulation.run(options.request.policy, options.request.seed, watch);
  jobs.close();
  events.close();
  if (chart) drawing.write(drawing_of(chart->chart(), report, options.chart));
  drawing.close();
  if (options.jobs == "-" || options.events == "-" || options.chart == "-") return;
  if (options.json) return console.line(to_json(report));
  console.write(simulation_text(report, console.screen));
}

// A line per simulation of the sweep.
void list_runs(const fleet::SimulationRequest& request, Console& console) {
  for (const fleet::SweptRun& run : fleet::Simulation::runs_of(request)) {
    JsonWriter json;
    json.begin_object().field("policy", run.policy).field("seed", std::to_string(run.seed));
    console.line(json.end_object().finish());
  }
}

// The report of each listed simulation on its line.
void simulate_listed(fleet::Simulation& simulation, Console& console) {
  for (const std::string& line : read_pieces()) {
    const Json json = parse_json(line, "--work do");
    JsonFields fields(json, "--work do");
    const std::string policy = fields.required_text("policy");
    const std::string seed = fields.required_text("seed");
    console.line(to_json(simulation.run(policy, std::stoull(seed))));
  }
}

void show_listed(const Options& options, Console& console) {
  const std::vector<std::string> reports = read_pieces();
  if (!options.json) {
    return console.write(sweep_text(fleet::means_by_policy(reports), console.screen));
  }
  JsonWriter json;
  json.begin_object().key("runs").begin_array();
  for (const std::string& report : reports) json.json(report);
  console.line(json.end_array().end_object().finish());
}

// The parts of a sweep that is spread over machines.
void run_spread(const Options& options, const fleet::SimulationRequest& request,
                const Library& library, Console& console) {
  if (!fleet::is_sweep(request) || request.trace == "-") {
    throw Error(ErrorKind::BadInput,
                "--on spreads the simulations of --sweep and --seeds, and the trace is a file; "
                "leave out --on");
  }
  spread_where_asked(options.spread.on, console);
  if (options.spread.work == "list") {
    list_runs(request, console);
  } else if (options.spread.work == "do") {
    fleet::Simulation simulation(request, library);
    simulate_listed(simulation, console);
  } else {
    show_listed(options, console);
  }
}

void run_simulate(const Options& options, Console& console) {
  const Library library = load_library();
  fleet::SimulationRequest request = options.request;
  fleet::check(request);
  if (request.trace == "-") {
    request.trace = "standard input";
    request.trace_text.emplace(std::istreambuf_iterator<char>(std::cin),
                               std::istreambuf_iterator<char>());
  }
  const bool detailed = !options.jobs.empty() || !options.events.empty() || !options.chart.empty();
  if (fleet::is_sweep(request) && detailed) {
    throw Error(ErrorKind::BadInput,
                "--jobs, --events and --chart show one simulation; leave out --sweep and --seeds");
  }
  if (!options.spread.on.empty() || !options.spread.work.empty()) {
    return run_spread(options, options.request, library, console);
  }
  fleet::Simulation simulation(request, library);
  if (!fleet::is_sweep(request)) return run_one(options, simulation, console);
  const std::vector<fleet::SimulationReport> reports = simulation.run_all();
  if (options.json) return console.line(to_json(reports));
  console.write(sweep_text(fleet::means_by_policy(reports), console.screen));
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

void add_number(Command& command, const char* name, double& value, const char* meaning) {
  command.add_option(name, value, meaning)
      .type_name("S")
      .check(number_range(0, fleet::kLongestTime));
}

Option& add_text(Command& command, const char* name, std::string& value, const char* meaning,
                 const char* type) {
  return command.add_option(name, value, meaning).type_name(type);
}

void add_question(Command& command, fleet::SimulationRequest& request) {
  add_text(command, "trace", request.trace, "a file, - for standard input, or generate:jobs=N,...",
           "TRACE")
      .required();
  add_text(command, "--cluster", request.cluster, "cluster file, or NODESxDEVICES", "FILE")
      .required();
  add_text(command, "--policy", request.policy, "who runs (fifo)", "POLICY");
  add_text(command, "--placement", request.placement, "where (anywhere)", "PLACEMENT");
  command.add_option("--limits", request.limits_s, "of Tiresias's queues in seconds (3250,7200)")
      .type_name("A,B")
      .delimiter(',')
      .allow_extra_args(false)
      .check(number_range(0, fleet::kLongestTime));
  add_number(command, "--round", request.round_s, "seconds that a round of max-min lasts (360)");
  command.add_flag("--drop-unfit", request.drop_unfit, "leave out jobs larger than the cluster");
}

void add_uncertainty(Command& command, fleet::SimulationRequest& request) {
  add_text(command, "--durations", request.durations,
           "what happens to jobs with duration and request: trace, placed or engine (trace)",
           "HOW");
  add_text(command, "--predictions", request.predictions,
           "what policies are told: exact or engine (exact)", "HOW");
  command
      .add_option("--prediction-error", request.prediction_error,
                  "tell policies the truth times 1 +- up to this, 0 to 1")
      .type_name("X")
      .check(number_range(0, 1));
  command.add_flag("--draw-durations", request.draw_durations,
                   "draw durations from the intervals of the predictions");
  add_number(command, "--restart-cost", request.restart_cost_s,
             "seconds that resuming a job takes (0)");
  add_number(command, "--checkpoint-interval", request.checkpoint_interval_s,
             "seconds of work between checkpoints; a failure loses the rest (0: nothing)");
  add_number(command, "--mtbf", request.mtbf_s,
             "mean seconds between failures of a node (0: never)");
  add_number(command, "--repair", request.repair_s, "seconds to repair a node (3600)");
  command.add_option("--seed", request.seed, "of all that is random (0)").type_name("N");
}

void add_output(Command& command, Options& options) {
  command.add_flag("--json", options.json, "print the result as JSON");
  add_text(command, "--jobs", options.jobs, "write a CSV line per job", "FILE|-");
  add_text(command, "--events", options.events, "write a CSV line per event", "FILE|-");
  add_text(command, "--chart", options.chart,
           "write utilisation, queue and a Gantt chart (.svg or .html)", "FILE|-");
  command.add_option("--sweep", options.request.sweep, "compare these policies")
      .type_name("A,B,...")
      .delimiter(',')
      .allow_extra_args(false);
  command.add_option("--seeds", options.request.seeds, "simulate with this many seeds (1)")
      .type_name("N")
      .check(number_range(1, fleet::kMostSeeds));
  command.add_option("--threads", options.request.threads, "of --sweep and --seeds (one per core)")
      .type_name("N")
      .check(number_range(1, fleet::kMostThreads));
  add_spread_options(command, options.spread, true);
}

}  // namespace

void add_simulate_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command = app.add_subcommand("simulate", "schedule a job trace on a cluster");
  command.footer(
      "Examples:\n"
      "  foretrain simulate trace.csv --cluster cluster.json --policy srtf\n"
      "  foretrain simulate generate:jobs=10000,load=1.1 --cluster 16x8 --sweep "
      "fifo,easy,srtf\n\n" +
      list_of_policies() + "\ndocs/simulator.md describes traces, clusters and policies.");
  add_question(command, options->request);
  add_uncertainty(command, options->request);
  add_output(command, *options);
  command.callback([options, &console] { run_simulate(*options, console); });
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/table.h"
#include "foretrain/lab/design_campaign.h"
#include "foretrain/measured/table.h"
#include "foretrain/scaling/design.h"
#include "foretrain/scaling/search_space.h"

namespace foretrain::cli {
namespace {

struct Options {
  std::vector<double> workers;
  std::vector<double> fractions;
  std::string candidates;
  double budget = 0;
  double start = 0.01;
  std::string campaign;
  lab::DesignedJobs jobs;
  bool json = false;
};

double number_of(const measured::Row& row, const char* column, const measured::Table& table) {
  const std::string_view text = measured::cell(row, column);
  if (const auto number = scaling::number_in(text)) return *number;
  throw Error(ErrorKind::BadInput, table.where() + ": line " + std::to_string(row.line) + ": '" +
                                       column + "' is '" + printable(text) +
                                       "', not a number; the columns are workers, fraction, cost");
}

std::vector<scaling::Candidate> candidates_of(const Options& options) {
  std::vector<scaling::Candidate> candidates;
  if (options.candidates.empty() == options.workers.empty()) {
    throw Error(ErrorKind::BadInput,
                "design needs --workers and --fractions, or --candidates FILE, and not both");
  }
  if (options.workers.empty()) {
    measured::Table table{std::filesystem::path(options.candidates)};
    for (measured::Row row; table.next(row);) {
      candidates.push_back({number_of(row, "workers", table), number_of(row, "fraction", table),
                            number_of(row, "cost", table)});
    }
    return candidates;
  }
  for (const double workers : options.workers) {
    for (const double fraction : options.fractions) {
      candidates.push_back({workers, fraction, fraction + options.start * workers});
    }
  }
  return candidates;
}

std::string json_of(const std::vector<scaling::Candidate>& candidates,
                    const scaling::Design& design, double budget) {
  JsonWriter json;
  json.begin_object()
      .field("budget", budget)
      .field("cost", design.cost)
      .field("variance", design.variance)
      .key("runs")
      .begin_array();
  for (const std::size_t run : design.runs) {
    json.begin_object()
        .field("workers", candidates[run].workers)
        .field("fraction", candidates[run].fraction)
        .field("cost", candidates[run].cost)
        .field("share", design.shares[run])
        .end_object();
  }
  json.end_array().end_object();
  return json.finish();
}

void check_campaign(const Options& options) {
  if (options.campaign.empty()) return;
  if (options.jobs.model.empty() || options.jobs.batch == 0 || options.jobs.samples == 0) {
    throw Error(ErrorKind::BadInput,
                "design: --campaign needs --model, --batch and --samples of the whole data set");
  }
  if (options.json && options.campaign == "-") {
    throw Error(ErrorKind::BadInput,
                "design: standard output holds one of --json and --campaign -; give --campaign a "
                "file");
  }
  refuse_same_file("design", "--candidates", options.candidates, "--campaign", options.campaign);
}

void write_campaign(const Options& options, const std::vector<scaling::Candidate>& candidates,
                    const scaling::Design& design, Console& console) {
  std::vector<lab::DesignedRun> runs;
  for (const std::size_t run : design.runs) {
    runs.push_back({candidates[run].workers, candidates[run].fraction});
  }
  write_file(options.campaign, lab::design_campaign(options.jobs, runs), console);
}

void run_design(const Options& options, Console& console) {
  check_campaign(options);
  const std::vector<scaling::Candidate> candidates = candidates_of(options);
  const scaling::Design design = scaling::design_runs(candidates, options.budget);
  if (!options.campaign.empty()) write_campaign(options, candidates, design, console);
  if (options.campaign == "-") return;
  if (options.json) return console.line(json_of(candidates, design, options.budget));
  Table table;
  table.columns = {{"workers", true, false},
                   {"fraction", true, false},
                   {"cost", true, false},
                   {"share", true, false}};
  for (const std::size_t run : design.runs) {
    table.rows.push_back(
        {format("%g", candidates[run].workers), format("%g", candidates[run].fraction),
         format("%.4g", candidates[run].cost), format("%.2f", design.shares[run])});
  }
  console.write(render(table, console.screen));
  const bool left_over = std::any_of(design.runs.begin(), design.runs.end(), [&](std::size_t run) {
    return design.shares[run] <= scaling::kKeptShare;
  });
  if (left_over) console.line("  shares of 0.3 and less: added with what was left of the budget");
  console.line(format("  %zu of %zu runs, cost %.4g of %.4g; variance of the weights %.4g",
                      design.runs.size(), candidates.size(), design.cost, options.budget,
                      design.variance));
}

// What a campaign's jobs are, besides workers and data.
void add_campaign_options(Command& command, lab::DesignedJobs& jobs) {
  const auto add = [&](const char* name, auto& value, const char* help) -> Option& {
    return command.add_option(name, value, help).group("Campaign").needs("--campaign");
  };
  add("--model", jobs.model, "what is trained");
  add("--batch", jobs.batch, "samples per worker and step").check(number_range(1, 1e6));
  add("--samples", jobs.samples, "of the whole data set").check(number_range(1, 1e8));
  add("--optimizer", jobs.optimizer, "sgd, momentum, adam or adamw (momentum)");
  add("--cores", jobs.cores, "of each worker: 1, or a share of a core (1)")
      .check(number_range(0.01, 1));
  add("--network", jobs.network, "rate of each link, 1gbps (not shaped)");
}

}  // namespace

void add_design_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command =
      app.add_subcommand("design", "which few runs to make before `fit scaling --method ernest`");
  command.footer(
      "Examples:\n  foretrain design --workers 1,2,4,8,16 --fractions 0.01,0.02,0.05,0.1 "
      "--budget 0.5\n  foretrain design --candidates runs.csv --budget 3600 --json\n"
      "  foretrain design --workers 1,2,3,4 --fractions 0.1,0.3,1 --budget 2 --model lstm-lm "
      "--batch 16 --samples 4096 --campaign runs.json\n"
      "  foretrain collect runs.json --store lab.db\n\n"
      "A run costs its fraction of the data, in passes of one worker over all of it, and --start "
      "for each worker;\n--candidates gives costs of its own: a CSV file with the columns workers, "
      "fraction, cost.\ndocs/search.md describes the method.");
  command.add_option("--budget", options->budget, "what the runs may cost together")
      .required()
      .check(number_range(0, 1e15));
  command.add_option("--workers", options->workers, "counts of workers that could be tried")
      .delimiter(',')
      .allow_extra_args(false);
  command
      .add_option("--fractions", options->fractions,
                  "of the data set that could be run (0.01 to 0.1)")
      .delimiter(',')
      .allow_extra_args(false)
      .default_str("0.01,0.02,0.05,0.1");
  options->fractions = {0.01, 0.02, 0.05, 0.1};
  command
      .add_option("--start", options->start,
                  "what starting one worker costs, as a share of one worker's pass (0.01)")
      .check(number_range(0, 1e6));
  command.add_option("--candidates", options->candidates, "runs with costs of their own, as CSV");
  command.add_option("--campaign", options->campaign,
                     "write the runs as a campaign for `collect`; - prints it");
  add_campaign_options(command, options->jobs);
  command.add_flag("--json", options->json, "print the design as JSON");
  command.callback([options, &console] { run_design(*options, console); });
}

}  // namespace foretrain::cli

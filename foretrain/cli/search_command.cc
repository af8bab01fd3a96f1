// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/search_history.h"
#include "foretrain/cli/search_runs.h"
#include "foretrain/cli/table.h"
#include "foretrain/scaling/search_svg.h"

namespace foretrain::cli {
namespace {

// The next run is found in a time that grows with the cube of the runs before: 1000 take seconds.
constexpr int kMostRuns = 1000;

struct Options {
  std::string space;
  std::string command;
  std::string table;
  std::string goal = "time_s";
  std::vector<std::string> variables;
  std::string price;
  double deadline_s = 0;
  double patience_s = 86400;
  std::string history;
  std::string svg;
  bool json = false;
  scaling::SearchOptions search;
};

// What is searched, and how a point is tried.
struct Subject {
  scaling::SearchSpace space;
  TryPoint try_point;
  std::size_t rows = 0;  // of a table
};

Subject subject_of(const Options& options) {
  if (options.command.empty() == options.table.empty()) {
    throw Error(ErrorKind::BadInput,
                "search needs SPACE.json with --command, or --table FILE of measured points");
  }
  if (!options.table.empty()) {
    if (!options.space.empty()) {
      throw Error(ErrorKind::BadInput, "search: the rows of --table are the space; give no other");
    }
    MeasuredPoints points = read_points(options.table, options.variables, options.goal);
    auto known = std::make_shared<const MeasuredPoints>(points);
    return {std::move(points.space),
            [known](const std::vector<std::string>& point) {
              return std::optional(known->goals[*scaling::find_point(known->space, point)]);
            },
            known->rows};
  }
  if (options.space.empty()) {
    throw Error(ErrorKind::BadInput, "search: which configurations? Give SPACE.json");
  }
  constexpr std::uintmax_t kLargest = 1 << 20;
  scaling::SearchSpace space =
      scaling::parse_space(read_file(options.space, kLargest), named(options.space));
  TryPoint try_point = by_command(command_words(options.command, space.variables), space.variables,
                                  Seconds{options.patience_s});
  return {std::move(space), std::move(try_point)};
}

void check_price(const scaling::SearchSpace& space, std::size_t price) {
  for (const auto& point : space.points) {
    const auto value = scaling::number_in(point[price]);
    if (value && *value > 0) continue;
    throw Error(ErrorKind::BadInput, "--price: '" + printable(space.variables[price]) + "' is '" +
                                         printable(point[price]) +
                                         "' at one point, which is no price; prices are numbers "
                                         "above 0");
  }
}

scaling::SearchOptions search_options(const Options& options, const scaling::SearchSpace& space) {
  scaling::SearchOptions search = options.search;
  if (options.deadline_s > 0) search.deadline_s = options.deadline_s;
  if (options.price.empty()) return search;
  for (std::size_t v = 0; v < space.variables.size(); ++v) {
    if (space.variables[v] == options.price) search.price = v;
  }
  if (!search.price) {
    throw Error(ErrorKind::BadInput, "--price: '" + printable(options.price) +
                                         "' is no variable of the space" +
                                         did_you_mean(options.price, space.variables));
  }
  check_price(space, *search.price);
  return search;
}

void show(const scaling::SearchSpace& space, const SearchHistory& history,
          const scaling::SearchOptions& search, bool stopped, Console& console) {
  Table table;
  table.columns.push_back({"run", true, false});
  for (const std::string& name : space.variables) table.columns.push_back({name, true, false});
  for (const char* title : {"time", "expected gain", "goal"}) {
    table.columns.push_back({title, true, false});
  }
  for (std::size_t i = 0; i < history.tried.size(); ++i) {
    const scaling::Tried& one = history.tried[i];
    std::vector<Cell> cells{std::to_string(i + 1)};
    for (const std::string& value : space.points[one.point]) cells.emplace_back(value);
    cells.emplace_back(one.time_s ? format("%.6g s", *one.time_s) : "failed");
    const std::optional<double>& gain = history.improvements[i];
    cells.emplace_back(gain ? format("%.1f %%", 100 * *gain) : "");
    cells.emplace_back(one.time_s ? format("%.6g", scaling::goal_of(space, one, search)) : "");
    table.rows.push_back(std::move(cells));
  }
  console.write(render(table, console.screen));
  const auto best = scaling::best_of(space, history.tried, search);
  if (!best) return;
  console.line(format("  best after %zu of %zu: %s, %.6g s%s", history.tried.size(),
                      space.points.size(),
                      scaling::describe_point(space, history.tried[*best].point).c_str(),
                      *history.tried[*best].time_s,
                      stopped ? "; nothing else promises more than the stop rule asks for" : ""));
}

std::string json_of(const Subject& subject, const SearchHistory& history,
                    const scaling::SearchOptions& search) {
  const scaling::SearchSpace& space = subject.space;
  JsonWriter json;
  const auto add_point = [&](const scaling::Tried& one) {
    json.begin_object();
    for (std::size_t v = 0; v < space.variables.size(); ++v) {
      json.field(space.variables[v], std::string_view(space.points[one.point][v]));
    }
    json.field("time_s", one.time_s);
    if (one.time_s) json.field("goal", scaling::goal_of(space, one, search));
    json.end_object();
  };
  json.begin_object().field("points", static_cast<double>(space.points.size()));
  if (subject.rows > 0) json.field("rows", static_cast<double>(subject.rows));
  json.field("runs", static_cast<double>(history.tried.size())).key("best");
  if (const auto best = scaling::best_of(space, history.tried, search)) {
    add_point(history.tried[*best]);
  } else {
    json.null();
  }
  json.key("history").begin_array();
  for (const scaling::Tried& one : history.tried) add_point(one);
  json.end_array().end_object();
  return json.finish();
}

void keep(const Options& options, const scaling::SearchSpace& space, const SearchHistory& history,
          const scaling::SearchOptions& search) {
  if (options.history.empty()) return;
  OutputFile file(options.history);
  file.write(history_csv(space, history.tried, history.improvements, search));
  file.commit();
}

void run_search(const Options& options, Console& console) {
  if (options.json && options.svg == "-") {
    throw Error(ErrorKind::BadInput,
                "search: standard output holds one of --json and --svg -; give --svg a file");
  }
  refuse_same_file("search", "SPACE", options.space, "--svg", options.svg);
  refuse_same_file("search", "--table", options.table, "--svg", options.svg);
  refuse_same_file("search", "--history", options.history, "--svg", options.svg);
  const Subject subject = subject_of(options);
  const scaling::SearchOptions search = search_options(options, subject.space);
  SearchHistory history;
  if (!options.history.empty()) history = read_history(options.history, subject.space);
  keep(options, subject.space, history, search);  // before a run is lost that cannot be kept
  Output picture(options.svg, console);
  {
    Progress bar("runs");
    while (const auto next = scaling::next_point(subject.space, history.tried, search)) {
      bar.show(history.tried.size(), {}, {}, scaling::describe_point(subject.space, next->point));
      const std::vector<std::string>& point = subject.space.points[next->point];
      history.tried.push_back({next->point, subject.try_point(point)});
      history.improvements.push_back(next->improvement);
      keep(options, subject.space, history, search);
    }
  }
  const bool stopped = history.tried.size() < std::min(search.most, subject.space.points.size());
  if (!options.json && options.svg != "-" && subject.rows > subject.space.points.size()) {
    console.line(format("  %zu rows of %zu points: the time of a point is the mean of its rows",
                        subject.rows, subject.space.points.size()));
  }
  if (options.json) {
    console.line(json_of(subject, history, search));
  } else if (options.svg != "-") {
    show(subject.space, history, search, stopped, console);
  }
  if (picture.wanted()) picture.write(scaling::search_svg(subject.space, history.tried, search));
  picture.close();
  if (!scaling::best_of(subject.space, history.tried, search)) {
    console.flush();  // what was tried is told all the same
    throw Error(ErrorKind::Io, "none of " + std::to_string(history.tried.size()) +
                                   " runs succeeded" + (options.deadline_s > 0 ? " in time" : ""));
  }
}

void add_search_options(Command& command, Options& options) {
  command.add_option("--price", options.price,
                     "the variable that the time is multiplied by: the least cost is searched");
  command.add_option("--deadline", options.deadline_s, "seconds; what takes longer is no answer")
      .check(number_range(0, 1e15));
  command
      .add_option("--stop", options.search.stop,
                  "end where no point is expected to be better by this share (0.1)")
      .check(number_range(0, 1));
  command.add_option("--first", options.search.first, "runs spread over the space at first (3)")
      .check(number_range(1, kMostRuns));
  command.add_option("--least", options.search.least, "runs before the stop rule counts (6)")
      .check(number_range(1, kMostRuns));
  command.add_option("--most", options.search.most, "runs in all (100)")
      .check(number_range(1, kMostRuns));
  command.add_option("--seed", options.search.seed, "of the first runs (1)");
  command.add_flag("--random", options.search.random,
                   "points drawn in place of chosen ones, for comparison; no stop rule");
}

}  // namespace

void add_search_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command =
      app.add_subcommand("search", "find the fastest or cheapest configuration by running few");
  command.footer(
      "Examples:\n  foretrain search space.json --command 'python3 train.py --workers {workers} "
      "--batch {batch}' --history runs.csv\n"
      "  foretrain search --table measured.csv --goal time_per_sample --variables "
      "workers,batch\n\nspace.json: {\"variables\": {\"workers\": [1, 2, 4, 8], \"batch\": [32, "
      "64]}}. The last number that the command prints\nis its time in seconds; no shell runs. A "
      "search with the same --history goes on where it ended.\ndocs/search.md describes it.");
  command.add_option("space", options->space, "the configurations, as JSON");
  command.add_option("--command", options->command, "what to run, with {variables} in it");
  command.add_option("--table", options->table, "CSV of measured points in place of a command");
  command.add_option("--goal", options->goal, "with --table: the column to minimise (time_s)");
  command
      .add_option("--variables", options->variables,
                  "with --table: the columns that are the space (all others)")
      .delimiter(',')
      .allow_extra_args(false);
  command
      .add_option("--patience", options->patience_s,
                  "seconds without output after which a run has failed (86400)")
      .check(number_range(0.001, 1e9));
  command.add_option("--history", options->history,
                     "CSV of all runs, written after each; a search goes on from it");
  command.add_option("--svg", options->svg,
                     "write a picture of the runs and the best so far; - prints it");
  command.add_flag("--json", options->json, "print the result as JSON");
  add_search_options(command, *options);
  command.callback([options, &console] { run_search(*options, console); });
}

}  // namespace foretrain::cli

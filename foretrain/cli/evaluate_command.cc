// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/evaluate_resources.h"
#include "foretrain/cli/evaluate_spread.h"
#include "foretrain/cli/evaluate_ways.h"
#include "foretrain/cli/given_request.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/spread.h"
#include "foretrain/cli/table.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/evaluate/print.h"
#include "foretrain/fit/calibration.h"

namespace foretrain::cli {
namespace {

constexpr std::size_t kReasonsShown = 12;  // without --unmapped
constexpr int kNarrowest = 132;            // columns; a line that wraps is better than no model

struct Options {
  std::string data;
  evaluate::Options evaluate;
  bool json = false;
  bool unmapped = false;
  bool coverage = false;
  bool ways = false;
  std::optional<std::uint64_t> seed;
  std::string rows;
  std::string predictor;
  bool resources = false;
  evaluate::ResourceOptions use;
  fit::CalibrationFit factors;
  Spread spread;
};

std::string percent(double fraction) { return format("%.1f %%", 100 * fraction); }

void append_score(const evaluate::Score& score, std::vector<Cell>& cells) {
  cells.emplace_back(std::to_string(score.rows));
  cells.emplace_back(std::to_string(score.predicted));
  if (!evaluate::has_errors(score)) return;
  cells.emplace_back(percent(score.mape));
  cells.emplace_back(percent(score.median_ape));
  cells.emplace_back(format("%+.1f %%", 100 * score.bias));
  if (score.worst_model.empty()) return;
  cells.emplace_back(percent(score.worst_mape) + "  " + printable(score.worst_model));
}

Table empty_table(const std::vector<std::string>& keys) {
  Table table;
  for (const std::string& key : keys) table.columns.push_back({key, false, false});
  for (const char* name : {"rows", "predicted", "MAPE", "median", "bias"}) {
    table.columns.push_back({name, true, false});
  }
  table.columns.push_back({"worst model", false, true});
  return table;
}

void append_group(const evaluate::Group& group, Table& table) {
  std::vector<Cell> cells;
  for (const std::string& text : group.key) cells.emplace_back(printable(text));
  append_score(group.score, table.rows.emplace_back(std::move(cells)));
}

// Groups without a row that could be asked are left to the reasons.
void show_scores(const evaluate::Evaluation& evaluation, const Screen& screen, Console& console) {
  Table groups = empty_table(evaluation.by);
  for (const evaluate::Group& group : evaluation.groups) {
    if (group.score.predicted + group.score.refused > 0) append_group(group, groups);
  }
  console.write(render(groups, screen));
  Table files = empty_table({"in all"});
  for (const evaluate::Group& file : evaluation.files) append_group(file, files);
  if (evaluation.files.size() > 1) append_group({{"all files"}, evaluation.total}, files);
  console.line("");
  console.write(render(files, screen));
}

// The reason of most rows of a file that no request was made of, and how many others there are.
std::string main_reason(const evaluate::Evaluation& evaluation, const std::string& file) {
  const evaluate::Reason* first = nullptr;
  std::size_t others = 0;
  for (const evaluate::Reason& reason : evaluation.reasons) {  // most rows first
    if (reason.file != file || reason.outcome != evaluate::Outcome::Unmapped) continue;
    if (first == nullptr) {
      first = &reason;
    } else {
      ++others;
    }
  }
  if (first == nullptr) return "";
  const std::string more = others > 0 ? " (" + std::to_string(others) + " more)" : "";
  return std::to_string(first->rows) + "  " + printable(first->text, 400) + more;
}

// What became of the rows of each file.
void show_coverage(const evaluate::Evaluation& evaluation, const Screen& screen, Console& console) {
  Table table;
  table.columns = {{"file", false, false}};
  for (const char* name : {"rows", "mapped", "", "predicted", "refused", "unmapped"}) {
    table.columns.push_back({name, true, false});
  }
  table.columns.push_back({"most rows unmapped because", false, true});
  const auto add = [&](const std::string& name, const evaluate::Score& score) {
    const std::size_t mapped = score.predicted + score.refused;
    const double share = static_cast<double>(mapped) / static_cast<double>(score.rows);
    table.rows.push_back({printable(name), std::to_string(score.rows), std::to_string(mapped),
                          format("%.0f %%", 100 * share), std::to_string(score.predicted),
                          std::to_string(score.refused), std::to_string(score.rows - mapped),
                          main_reason(evaluation, name)});
  };
  for (const evaluate::Group& file : evaluation.files) add(file.key.front(), file.score);
  if (evaluation.files.size() > 1) add("all files", evaluation.total);
  console.write(render(table, screen));
}

// A run that was measured did fit its device.
void show_misfits(const evaluate::Evaluation& evaluation, Console& console) {
  for (const evaluate::Group& file : evaluation.files) {
    const evaluate::Score& score = file.score;
    if (score.not_fitting == 0) continue;
    const double share =
        static_cast<double>(score.not_fitting) / static_cast<double>(score.predicted);
    console.line("  said not to fit, but measured: " + std::to_string(score.not_fitting) +
                 " rows (" + percent(share) + ") of " + printable(file.key.front()));
  }
}

void show_reasons(const evaluate::Evaluation& evaluation, bool all, const Screen& screen,
                  Console& console) {
  const std::vector<evaluate::Reason>& reasons = evaluation.reasons;
  if (reasons.empty()) return;
  const std::size_t shown = all ? reasons.size() : std::min(kReasonsShown, reasons.size());
  Table table;
  table.columns = {{"rows", true, false},
                   {"file", false, false},
                   {"", false, false},
                   {"not predicted because", false, !all}};
  for (std::size_t i = 0; i < shown; ++i) {
    const evaluate::Reason& reason = reasons[i];
    const std::string first = all ? " (line " + std::to_string(reason.first_line) + ")" : "";
    table.rows.push_back({std::to_string(reason.rows), printable(reason.file) + first,
                          evaluate::to_string(reason.outcome), printable(reason.text, 400)});
  }
  console.line("");
  console.write(render(table, screen));
  if (shown < reasons.size()) {
    console.line("  and " + std::to_string(reasons.size() - shown) +
                 " more reasons: --unmapped lists them");
  }
}

void show_calibrated(const evaluate::Evaluation& evaluation, const Screen& screen,
                     Console& console) {
  if (evaluation.calibrated.empty()) return;
  Table table;
  table.columns = {{"calibrated", false, false}, {"file", false, false}};
  for (const char* name : {"runs", "compute", "memory", "host", "network", "input", "samples/s"}) {
    table.columns.push_back({name, true, false});
  }
  const auto factor = [](double value) { return format("%.3f", value); };
  for (const evaluate::CalibratedGroup& group : evaluation.calibrated) {
    std::string name;
    for (const std::string& part : group.key) name += (name.empty() ? "" : ", ") + part;
    const Calibration& found = group.calibration;
    table.rows.push_back({printable(name), printable(group.file), std::to_string(group.runs),
                          factor(found.compute), factor(found.memory), factor(found.host),
                          factor(found.network), factor(found.input),
                          found.input_rate > 0 ? format("%.0f", found.input_rate) : ""});
  }
  console.line("");
  console.write(render(table, screen));
}

void show(const evaluate::Evaluation& evaluation, const Options& options, Console& console) {
  if (options.json) return console.line(evaluate::to_json(evaluation));
  Screen screen = console.screen;
  screen.width = std::max(screen.width, kNarrowest);
  if (options.coverage) {
    show_coverage(evaluation, screen, console);
    if (options.unmapped) show_reasons(evaluation, true, screen, console);
    return;
  }
  if (evaluation.total.rows > 0) show_scores(evaluation, screen, console);
  show_misfits(evaluation, console);
  show_calibrated(evaluation, screen, console);
  show_reasons(evaluation, options.unmapped, screen, console);
  for (const evaluate::IgnoredFile& file : evaluation.ignored) {
    console.line("  not read: " + printable(file.file) + ": " + printable(file.reason, 300));
  }
}

// Where evaluate itself needs no optimiser, the command brings one.
evaluate::Calibrate calibration_by(const fit::CalibrationFit& factors) {
  return [&factors](const std::vector<measured::MeasuredStep>& steps, const Library& library) {
    return fit::fit_calibration(steps, factors, library).calibration;
  };
}

// Whether all is done: the other parts of the protocol predict nothing or show nothing.
bool spread_done(const Options& options, const Library& library, Console& console) {
  if (options.spread.on.empty() && options.spread.work.empty()) return false;
  if (options.resources || options.use.engine == "inspector" ||
      options.evaluate.calibration.rows > 0) {
    throw Error(ErrorKind::Unsupported,
                "--on spreads plain predictions; leave out --resources and --calibrate, or --on");
  }
  spread_where_asked(options.spread.on, console);
  if (options.spread.work == "list")
    list_requests(options.data, options.evaluate, library, console);
  if (options.spread.work == "do") predict_listed(library, console);
  return options.spread.work != "finish";
}

// A file that was asked for by its name and is no measurement is an error; a folder may hold
// others.
void refuse_unread(const std::string& data, const evaluate::Evaluation& evaluation) {
  if (evaluation.ignored.size() != 1 || evaluation.total.rows > 0) return;
  if (!std::filesystem::is_regular_file(data)) return;
  throw Error(ErrorKind::BadInput,
              "file '" + printable(data, 200) +
                  "' is not read: " + printable(evaluation.ignored.front().reason, 300) +
                  "; docs/evaluate.md lists the columns, and how a mapping beside the file renames "
                  "its own");
}

void run_evaluate(const Options& options, Console& console) {
  Library library = load_library();
  if (!options.predictor.empty()) use(library, read_predictor(options.predictor));
  if (spread_done(options, library, console)) return;
  Output rows(options.rows, console);
  if (options.resources || options.use.engine == "inspector") {
    return show_resources(options.data, options.use, library, options.json, rows, console);
  }
  if (options.ways) {
    evaluate::WaysOptions ways{.evaluate = options.evaluate, .seed = options.seed.value_or(1)};
    if (ways.evaluate.calibration.rows > 0) ways.runs = ways.evaluate.calibration.rows;
    return show_ways(options.data, ways, library, options.json, console);
  }
  rows.write(evaluate::rows_header() + "\n");
  evaluate::Evaluation evaluation;
  {
    Progress progress("evaluating");
    std::size_t done = 0;
    evaluate::Observer observer;
    observer.on_case = [&](const evaluate::Case& one) {
      ++done;
      if (rows.wanted()) rows.write(evaluate::rows_line(one) + "\n");
    };
    observer.progress = [&](double share) { progress.show(done, share); };
    evaluate::Options asked = options.evaluate;
    asked.request = given_request(asked.request);
    if (options.spread.work == "finish") asked.known = predicted_elsewhere();
    asked.calibration.seed = options.seed;
    evaluation = evaluate::evaluate(options.data, asked, library, observer);
  }
  rows.close();
  refuse_unread(options.data, evaluation);
  if (options.rows != "-") show(evaluation, options, console);
}

void add_way_options(Command& command, Options& options) {
  command.add_flag("--informed", options.evaluate.informed,
                   "requests with what mappings have fitted to their own rows; without it they "
                   "hold facts alone");
  command.add_flag("--ways", options.ways,
                   "every source three ways in one table: plain, informed, and calibrated by three "
                   "runs of each model on each device; refused rows count as errors of 100 %");
  command.add_option("--calibrate-seed", options.seed,
                     "the runs that calibrate are drawn by it (--ways: 1; --calibrate: those are "
                     "taken that cover a group best)");
}

void add_resource_options(Command& command, Options& options) {
  command.add_flag("--resources", options.resources,
                   "bursts and idles of device, memory and network in place of times: of the test "
                   "split of the lab's runs");
  command
      .add_option("--engine", options.use.engine,
                  "the engine that is asked for --resources; inspector means --resources")
      .one_of({"auto", "operators", "inspector"});
  command
      .add_option("--split", options.use.split, "with --resources: train, test or all of the runs")
      .one_of({"train", "test", "all"})
      .needs("--resources");
  command.add_option("--setting", options.use.settings, "with --resources: runs of these (all)")
      .delimiter(',')
      .allow_extra_args(false)
      .needs("--resources");
}

}  // namespace

void add_evaluate_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command =
      app.add_subcommand("evaluate", "error table of the predictions against measurements");
  command.footer(
      "Example:\n  foretrain evaluate --data measurements/ --by file,device,precision\n\n"
      "docs/evaluate.md says how files of measurements are mapped to requests.");
  command
      .add_option("--data", options->data,
                  "a store, a folder of CSV files, or a file: CSV, JSON lines of steps, a trace")
      .required();
  command.add_option("--request", options->evaluate.request,
                     "what ran, where the data is a profiler's trace: JSON or a file of it");
  command.add_option("--models", options->evaluate.models,
                     "the folder of model files that requests name, such as timm/resnet50_224"
                     ".ftg.json");
  command.add_flag("--json", options->json, "print the tables as JSON");
  add_spread_options(command, options->spread, true);
  add_resource_options(command, *options);
  add_way_options(command, *options);
  command.add_option("--source", options->evaluate.source,
                     "only this file (without .csv) or this entry of the column source");
  std::string keys;
  for (const std::string& key : evaluate::group_keys()) keys += (keys.empty() ? "" : ", ") + key;
  command.add_option("--by", options->evaluate.by, "what rows are grouped by: " + keys)
      .delimiter(',')
      .allow_extra_args(false)
      .default_str("file,device,metric");
  command.add_flag("--unmapped", options->unmapped, "list every reason why rows are not predicted");
  command.add_flag("--coverage", options->coverage,
                   "show what became of each file's rows in place of the errors");
  command.add_flag("--count-refused", options->evaluate.count_refused,
                   "a row whose prediction is refused counts as an error of 100 %");
  command.add_option("--rows", options->rows,
                     "write a CSV line per row to this file; - shows them");
  command.add_option("--predictor", options->predictor,
                     "a file that `foretrain fit` wrote, in place of or beside what is in use");
  evaluate::CalibrationOptions& calibration = options->evaluate.calibration;
  calibration.fit = calibration_by(options->factors);
  command
      .add_option("--calibrate", calibration.rows,
                  "calibrate each group by this many of its runs, and score the others")
      .check(number_range(0, 1000));
  command
      .add_option("--calibrate-by", calibration.by,
                  "groups of a file beside the device's: of the same keys as --by")
      .delimiter(',')
      .allow_extra_args(false);
  command
      .add_option("--calibrate-factors", options->factors.factors,
                  "find only these; the others stay as they are")
      .delimiter(',')
      .allow_extra_args(false)
      .one_of(fit::factor_names());
  command
      .add_option(
          "--calibrate-usual", options->factors.usual,
          "how far such factors lie from 1: 0.5 for an unknown machine, 0.1 for a known one")
      .check(number_range(0.01, 5));
  command.callback([options, &console] { run_evaluate(*options, console); });
}

}  // namespace foretrain::cli

// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cli/fit/scaling_forecast_text.h"
#include "foretrain/cli/fit/scaling_tests_text.h"
#include "foretrain/cli/progress.h"
#include "foretrain/train/fit_scaling.h"

namespace foretrain::cli {
namespace {

struct ScalingCommand {
  train::ScalingSource source;
  std::string data;
  std::string output;
  std::vector<std::string> columns;
  std::vector<std::string> where;
  std::string time;
  std::string with;
  std::vector<std::string> methods{"auto"};
  std::string tuning = "grid";
  train::ScalingFit fit;
  bool tests = false;
  bool json = false;
  std::string rows;
  std::vector<std::string> at;
};

// "workers=gpus" as a pair.
std::map<std::string, std::string> pairs(const std::vector<std::string>& texts,
                                         const char* option) {
  std::map<std::string, std::string> result;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw Error(ErrorKind::BadInput, std::string(option) + ": '" + printable(text) +
                                           "' is not NAME=VALUE, as in workers=gpus");
    }
    if (!result.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw Error(ErrorKind::BadInput, std::string(option) + ": '" +
                                           printable(text.substr(0, equals)) + "' is given twice");
    }
  }
  return result;
}

void take_options(ScalingCommand& command) {
  command.source.data = command.data;
  command.source.columns = pairs(command.columns, "--columns");
  std::set<std::string> used;
  for (const auto& [name, column] : command.source.columns) {
    if (used.insert(column).second) continue;
    throw Error(ErrorKind::BadInput,
                "--columns: the column '" + printable(column) + "' cannot be two things");
  }
  command.source.where = pairs(command.where, "--where");
  if (!command.time.empty()) command.source.time = time_of_named(command.time);
  command.source.with_operators = !command.with.empty();
  if (command.tuning == "bayes") command.fit.tuning = train::Tuning::Bayes;
  for (const std::string& name : command.methods) {
    if (const auto method = train::method_named(name)) command.fit.methods.push_back(*method);
  }
}

std::string note_of(const ScalingCommand& command, const train::ScalingData& data) {
  std::size_t rows = 0;
  for (const train::MeasuredWorkload& one : data.workloads) rows += one.rows.size();
  std::string note =
      format("%zu measured runs; chosen by %s", rows,
             command.fit.reach > 1 ? "folds and the highest values left out" : "folds left out");
  for (const std::string& filter : command.where) note += "; only " + filter;
  return note;
}

void show(const train::FittedWorkload& one, FitOutput& output) {
  std::string others;
  for (std::size_t i = 1; i < one.methods.size(); ++i) {
    others += format("%s%s %.1f %%", others.empty() ? "" : ", ",
                     std::string(train::name_of(one.methods[i].setting.method)).c_str(),
                     100 * std::min(one.methods[i].error, 99.99));
  }
  output.say(format("  %-36s %5.1f %% on runs left out, by %s", printable(one.name, 60).c_str(),
                    100 * one.methods.front().error,
                    train::text_of(one.methods.front().setting).c_str()));
  if (!others.empty()) output.say("    others: " + others);
}

void run_tests(const ScalingCommand& command, const train::ScalingData& data, Console& console) {
  Output rows(command.rows, console);
  std::vector<train::ScalingTest> tests;
  {
    Progress bar("testing");
    tests = train::test_scaling(data, command.fit, [&](double share) {
      bar.show(static_cast<std::size_t>(100 * share), share);
    });
  }
  if (tests.empty()) {
    throw Error(ErrorKind::BadInput,
                "--tests: no variable has four different values in twelve runs or more");
  }
  if (command.json) {
    console.line(scaling_tests_json(tests));
  } else {
    show_scaling_tests(tests, console);
  }
  rows.write(scaling_tests_rows(tests, data));
  rows.close();
}

// The values of the data's variables, in their order.
std::vector<double> values_at(const std::vector<std::string>& texts,
                              const std::vector<std::string>& variables) {
  std::map<std::string, std::string> given = pairs(texts, "--at");
  std::vector<double> values;
  for (const std::string& variable : variables) {
    const auto one = given.find(variable);
    if (one == given.end()) {
      throw Error(ErrorKind::BadInput, "--at: how many " + variable +
                                           "? The runs differ in it; say " + variable + "=VALUE");
    }
    const std::string problem = number_range(1e-12, 1e12)(one->second);
    if (!problem.empty()) throw Error(ErrorKind::BadInput, "--at: " + variable + ": " + problem);
    values.push_back(std::stod(one->second));
    given.erase(one);
  }
  if (!given.empty()) {
    throw Error(ErrorKind::BadInput, "--at: the runs do not differ in '" +
                                         printable(given.begin()->first) + "'" +
                                         did_you_mean(given.begin()->first, variables));
  }
  return values;
}

void forecast(const ScalingCommand& command, const train::ScalingData& data, Console& console) {
  const std::vector<double> values = values_at(command.at, data.variables);
  const std::vector<ScalingForecast> forecasts =
      forecast_at(train::fit_scaling(data, command.fit), values);
  console.write(command.json ? forecasts_json(forecasts) + "\n" : forecasts_text(forecasts));
}

void run_scaling(ScalingCommand& command, Console& console) {
  take_options(command);
  if (command.output.empty() && !command.tests && command.at.empty()) {
    throw Error(ErrorKind::BadInput, "nothing to do: give -o FILE, --tests or --at");
  }
  if (command.json && !command.tests && command.at.empty()) {
    throw Error(ErrorKind::BadInput, "--json is for the tables of --tests and --at");
  }
  if (command.tests && !command.at.empty()) {
    throw Error(ErrorKind::BadInput, "give --tests or --at, not both");
  }
  FitOutput output(command.output, console);
  const Library library = load_library();
  const train::ScalingData data = train::read_scaling_data(command.source, library);
  if (data.with_operators && !command.at.empty()) {
    throw Error(ErrorKind::BadInput, "--at is for times learned from runs alone, without --with");
  }
  if (command.tests) run_tests(command, data, console);
  if (!command.at.empty()) forecast(command, data, console);
  if (command.output.empty()) return;
  if (data.skipped > 0) {
    output.say(
        format("  %zu rows lack a number or cannot be predicted, and are left out", data.skipped));
  }
  ScalingModel model =
      train::fit_scaling(data, command.fit, [&](const auto& one) { show(one, output); });
  if (model.with_operators) model.constants = library.constants.text();
  const std::string note = note_of(command, data);
  output.write(write_scaling(model, std::span(&note, 1)));
}

void add_data_options(Command& sub, ScalingCommand& command) {
  sub.add_option("--data", command.data,
                 "runs: a store, a folder, a file that `evaluate` knows, or any CSV with --columns")
      .required();
  sub.add_option("--columns", command.columns,
                 "of a CSV file: which column is what: time (seconds; for --tests and --at any "
                 "amount, such as CPU seconds or bytes), samples, workers, nodes, "
                 "batch (of a worker), cores (of a worker), model; as in time=step_s,workers=gpus")
      .delimiter(',')
      .allow_extra_args(false);
  sub.add_option("--where", command.where, "only rows whose column has this text: model=ResNet-18")
      .allow_extra_args(false);
  sub.add_option("--model", command.source.model,
                 "what requests call the model of rows that name none (any model)");
  sub.add_option("--time", command.time,
                 "what the time is of (epoch where there are samples, else step)")
      .one_of({"step", "epoch", "total"});
  sub.add_option("--with", command.with, "learn to correct the operator engine's time")
      .one_of({"operators"});
}

}  // namespace

void add_fit_scaling(Command& app, Console& console) {
  auto command = std::make_shared<ScalingCommand>();
  Command& sub =
      app.add_subcommand("scaling", "how a workload's time changes with workers, batch, samples");
  sub.footer(
      "Examples:\n  foretrain fit scaling --data runs.csv --columns "
      "time=epoch_s,samples=images,workers=gpus --model resnet50 -o scaling.json\n"
      "  foretrain fit scaling --data pollux.csv --with operators --reach 2 -o scaling.json\n"
      "  foretrain fit scaling --data pollux.csv --tests --json\n"
      "  foretrain fit scaling --data ray.csv --columns "
      "model=model,time=cpu_s,samples=samples,workers=workers,batch=batch,cores=cpus\n    "
      "--reach 2 --at samples=512,workers=3,batch=8,cores=0.3\n"
      "  foretrain predict resnet18-cifar --device t4 --workers 6 --batch 128 --framework adaptdl "
      "--predictors scaling.json --engine scaling\n\ndocs/scaling.md describes methods and tests.");
  add_data_options(sub, *command);
  std::vector<std::string> names{"auto"};
  for (const train::Method one : train::all_methods()) names.emplace_back(train::name_of(one));
  sub.add_option("--method", command->methods, "auto: the best on runs left out; or of these")
      .delimiter(',')
      .allow_extra_args(false)
      .one_of(names);
  sub.add_option("--tuning", command->tuning,
                 "hyper-parameters: of a grid, or by a Bayesian search over a finer one (grid)")
      .one_of({"grid", "bayes"});
  sub.add_option("-o,--output", command->output, "the predictor file to write");
  sub.add_option("--reach", command->fit.reach,
                 "how far beyond the measured values it may answer, as a factor, and not beyond "
                 "what the highest half of them left out let be tried (1)")
      .check(number_range(1, 100));
  sub.add_option("--folds", command->fit.folds, "of runs, for choices and intervals (5)")
      .check(number_range(2, 100));
  sub.add_option("--confidence", command->fit.confidence, "of the intervals (0.9)")
      .check(number_range(0.5, 0.999));
  sub.add_option("--seed", command->fit.seed, "of folds, forests and networks (1)");
  sub.add_option("--threads", command->fit.threads, "results do not depend on it (all cores)")
      .check(number_range(0, 1024));
  sub.add_option("--at", command->at,
                 "forecast there, with an interval, as in samples=5000,workers=8")
      .delimiter(',')
      .allow_extra_args(false);
  sub.add_flag("--tests", command->tests,
               "table of errors where values are left out between others and at the end");
  sub.add_flag("--json", command->json, "print the table of --tests or --at as JSON");
  sub.add_option("--rows", command->rows, "write a CSV line per tested row; - shows them")
      .needs("--tests");
  sub.callback([command, &console] { run_scaling(*command, console); });
}

}  // namespace foretrain::cli

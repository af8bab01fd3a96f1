// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/train/embedding_tests.h"

namespace foretrain::cli {
namespace {

struct EmbeddingCommand {
  std::string data;
  std::string models;
  std::string families;
  std::string embedding;
  std::string time = "step";
  std::string target = "residual";
  std::string leave_out = "family";
  std::string examples;
  std::string output;
  std::vector<std::string> predictors;
  std::vector<std::string> methods{"auto"};
  train::EmbeddingTesting testing;
  bool tests = false;
  bool json = false;

  bool needs_operators() const { return tests || target == "residual" || !examples.empty(); }
};

train::EmbeddingSource source_of(const EmbeddingCommand& command) {
  return {.data = command.data,
          .models = command.models,
          .families = command.families,
          .embedding = command.embedding,
          .by_model = command.leave_out == "model",
          .time = time_of_named(command.time).value(),
          .with_operators = command.needs_operators(),
          .threads = command.testing.fit.threads};
}

OrderedJson tests_json(const train::EmbeddingTests& tests) {
  OrderedJson json{{"rows", tests.rows},
                   {"networks", tests.networks},
                   {"families", tests.families},
                   {"folds", tests.folds},
                   {"ways", OrderedJson::array()},
                   {"chosen", OrderedJson::object()},
                   {"curve", OrderedJson::array()},
                   {"ernest", OrderedJson::array()}};
  for (const train::WayScore& one : tests.ways) {
    OrderedJson metrics = OrderedJson::object();
    for (const auto& [metric, mean] : one.metrics) metrics[metric] = mean;
    json["ways"].push_back({{"way", one.way},
                            {"rows", one.rows},
                            {"mean", one.mean},
                            {"median", one.median},
                            {"inside", one.inside},
                            {"metrics", std::move(metrics)}});
  }
  for (const auto& [method, folds] : tests.chosen) json["chosen"][method] = folds;
  for (const train::CurvePoint& one : tests.curve) {
    json["curve"].push_back({{"networks", one.networks},
                             {"plain", one.plain},
                             {"residual", one.residual},
                             {"trees", one.trees}});
  }
  for (const train::ErnestScore& one : tests.ernest) {
    json["ernest"].push_back({{"runs", one.runs},
                              {"workloads", one.workloads},
                              {"rows", one.rows},
                              {"ernest", one.ernest},
                              {"plain", one.plain},
                              {"residual", one.residual},
                              {"sample_s", one.sample_s}});
  }
  return json;
}

void show_tests(const train::EmbeddingTests& tests, Console& console) {
  console.line(format("  %zu rows of %zu networks of %zu families, %zu folds", tests.rows,
                      tests.networks, tests.families, tests.folds));
  console.line("  mean, median error and share in the interval, on what is left out:");
  for (const train::WayScore& one : tests.ways) {
    console.line(format("  %-42s %6.1f %%  %6.1f %%  %5.1f %%", printable(one.way).c_str(),
                        100 * one.mean, 100 * one.median, 100 * one.inside));
  }
  for (const train::CurvePoint& one : tests.curve) {
    console.line(format("  %4zu networks: plain %.1f %%, residual %.1f %%, trees %.1f %%",
                        one.networks, 100 * one.plain, 100 * one.residual, 100 * one.trees));
  }
  for (const train::ErnestScore& one : tests.ernest) {
    console.line(format(
        "  Ernest with %zu runs: %.1f %%, plain %.1f %%, residual %.1f %% (%zu "
        "rows of %zu workloads)",
        one.runs, 100 * one.ernest, 100 * one.plain, 100 * one.residual, one.rows, one.workloads));
  }
}

void run_tests(const EmbeddingCommand& command, const train::EmbeddingData& data,
               Console& console) {
  train::EmbeddingTests tests;
  {
    Progress bar("testing");
    tests = train::test_embedding(data, command.testing, [&](double share) {
      bar.show(static_cast<std::size_t>(100 * share), share);
    });
  }
  if (command.json) {
    console.line(json_text(tests_json(tests)));
  } else {
    show_tests(tests, console);
  }
}

void show_fit(const EmbeddingModel& model, const std::vector<train::EmbeddingScore>& found,
              FitOutput& output) {
  std::string others;
  for (std::size_t i = 1; i < found.size(); ++i) {
    others += format("%s%s %.1f %%", others.empty() ? "" : ", ",
                     std::string(train::name_of(found[i].method)).c_str(),
                     100 * std::min(found[i].error, 99.99));
  }
  output.say(
      format("  %.1f %% on families left out, by %s", 100 * model.error, model.method.c_str()));
  if (!others.empty()) output.say("    others: " + others);
}

void run_embedding(EmbeddingCommand& command, Console& console) {
  if (command.output.empty() && command.examples.empty() && !command.tests) {
    throw Error(ErrorKind::BadInput,
                "nothing to do: give -o FILE, --examples FILE, --tests or several of them");
  }
  train::EmbeddingFit& fit = command.testing.fit;
  for (const std::string& name : command.methods) {
    if (const auto method = train::embedding_method_named(name)) fit.methods.push_back(*method);
  }
  FitOutput output(command.output, console);
  Output table(command.examples, console);
  Library library = load_library();
  for (const std::string& file : command.predictors) use(library, read_predictor(file));
  const train::EmbeddingData data = train::read_embedding_data(source_of(command), library);
  if (data.skipped > 0) {
    output.say(format("  %zu of %zu rows cannot be predicted and are left out; the first: %s",
                      data.skipped, data.rows, data.reason.c_str()));
  }
  table.write(train::embedding_examples_csv(data));
  table.close();
  if (command.tests) run_tests(command, data, console);
  if (command.output.empty()) return;
  if (!command.embedding.empty()) {
    throw Error(ErrorKind::BadInput,
                "-o: predictions know the embedding that is built in alone; leave out --embedding");
  }
  fit.residual = command.target == "residual";
  std::vector<train::EmbeddingScore> found;
  EmbeddingModel model = train::fit_embedding(data, fit, found);
  if (model.residual) model.constants = library.constants.text();
  show_fit(model, found, output);
  const std::string note =
      format("%zu rows of %zu families; chosen by families left out", model.rows, model.families);
  output.write(write_embedding_model(model, std::span(&note, 1)));
}

void add_data_options(Command& sub, EmbeddingCommand& command) {
  sub.add_option("--data", command.data, "runs: a store, a folder or a file that `evaluate` knows")
      .required();
  sub.add_option(
      "--models", command.models,
      "the folder of model files that requests name, such as timm/resnet50_224.ftg.json");
  sub.add_option("--families", command.families,
                 "a CSV file with the columns model and family, for models that are not built in");
  sub.add_option("--leave-out", command.leave_out,
                 "what is left out as a whole to choose and to bound by (family)")
      .one_of({"family", "model"});
  sub.add_option("--time", command.time, "what the time is of (step)")
      .one_of({"step", "epoch", "total"});
  sub.add_option("--predictors", command.predictors,
                 "files that predictions will name, too, such as a calibration")
      .delimiter(',')
      .allow_extra_args(false);
}

void add_test_options(Command& sub, EmbeddingCommand& command) {
  Option& tests = sub.add_flag(
      "--tests", command.tests,
      "table of errors on families left out, beside regressions on counts and operators alone");
  sub.add_option("--curve", command.testing.curve, "errors with so many measured networks: 5,10,20")
      .delimiter(',')
      .allow_extra_args(false)
      .needs(tests);
  sub.add_option("--ernest", command.testing.ernest,
                 "Ernest with so many runs of each new network (0: without any), on its others")
      .delimiter(',')
      .allow_extra_args(false)
      .needs(tests);
  sub.add_flag("!--chosen-only", command.testing.methods, "do not test every method by itself")
      .needs(tests);
  sub.add_flag("--json", command.json, "print the table as JSON").needs(tests);
  sub.add_option("--embedding", command.embedding,
                 "test with another embedding than the one built in (data/embeddings/digits.json)")
      .needs(tests);
  sub.add_option("--examples", command.examples, "write a CSV line per request with its features");
}

}  // namespace

void add_fit_embedding(Command& app, Console& console) {
  auto command = std::make_shared<EmbeddingCommand>();
  Command& sub = app.add_subcommand(
      "embedding", "one model for networks never run, from measured runs of others");
  sub.footer(
      "Examples:\n  foretrain fit embedding --data torchvision_gpus.csv -o embedding.json\n"
      "  foretrain fit embedding --data timm_train.csv --models graphs --families families.csv "
      "--tests --json\n"
      "  foretrain predict convnext_tiny --device rtx-3090 --batch 64 --precision fp16 "
      "--predictors embedding.json --engine embedding\n\n"
      "docs/embedding.md describes it and shows the errors.");
  add_data_options(sub, *command);
  sub.add_option("--target", command->target,
                 "learn the time itself, or the ratio to the operator engine's (residual)")
      .one_of({"plain", "residual"});
  std::vector<std::string> names{"auto"};
  for (const auto one : train::all_embedding_methods()) names.emplace_back(train::name_of(one));
  sub.add_option("--method", command->methods, "auto: the best on families left out; or of these")
      .delimiter(',')
      .allow_extra_args(false)
      .one_of(names);
  sub.add_option("-o,--output", command->output, "the predictor file to write");
  train::EmbeddingFit& fit = command->testing.fit;
  sub.add_option("--folds", fit.folds, "of families, for intervals and tests (10)")
      .check(number_range(2, 100));
  sub.add_option("--confidence", fit.confidence, "of the interval (0.9)")
      .check(number_range(0.5, 0.999));
  sub.add_option("--seed", fit.seed, "of folds, trees and networks (1)");
  sub.add_option("--threads", fit.threads, "results do not depend on it (all cores)")
      .check(number_range(0, 1024));
  add_test_options(sub, *command);
  sub.callback([command, &console] { run_embedding(*command, console); });
}

}  // namespace foretrain::cli

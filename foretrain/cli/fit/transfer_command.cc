// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cli/fit/network_options.h"
#include "foretrain/train/transfer_inspector.h"

namespace foretrain::cli {
namespace {

struct TransferCommand {
  std::string file;
  std::string data;
  std::string output;
  std::string partition = "driple";
  train::TransferFit options;
};

std::shared_ptr<const InspectorModel> read_base(const TransferCommand& command,
                                                const Library& library) {
  const Predictor given = read_predictor(command.file);
  if (!given.inspector) {
    throw Error(ErrorKind::BadInput,
                named(command.file) + ": no inspector; `foretrain fit inspector` writes one");
  }
  if (given.inspector->constants != library.constants.text()) {
    throw Error(ErrorKind::BadInput,
                named(command.file) +
                    ": fitted on other constants than those in use; fit it anew: "
                    "foretrain fit inspector --data DATA -o FILE");
  }
  return given.inspector;
}

void show(const train::TransferReport& report, const InspectorModel& base, FitOutput& output) {
  output.say(format("  %zu architectures used", report.used.architectures));
  show_share(report.used, output);
  if (base.network) show_training(report.network, output);
  if (!report.trees.empty()) {
    output.say("  error on architectures left out, and of the file as it was:");
  }
  for (const train::TargetFit& one : report.trees) {
    output.say(format("  %-32s %5.1f %%  %5.1f %%  by %s, %zu examples", one.name.c_str(),
                      100 * one.error, 100 * one.physics.value_or(0), one.form.c_str(),
                      one.examples));
  }
}

void run_transfer(TransferCommand command, Console& console) {
  command.options.partition = train::partition_named(command.partition).value();
  FitOutput output(command.output, console);
  Library library = load_library();
  const std::shared_ptr<const InspectorModel> base = read_base(command, library);
  std::vector<measured::ResourceJob> jobs = measured::resource_jobs(command.data);
  std::erase_if(jobs, [&](const auto& job) { return job.setting != command.options.setting; });
  library.calibrations.push_back(base->calibration);
  std::optional<Grouping> grouping;
  if (base->network) grouping = base->network->grouping;
  const auto examples = train::inspector_examples(jobs, library, 0, grouping);
  train::TransferReport report;
  InspectorModel model;
  {
    TrainingBar bar(command.options.train);
    model = train::transfer_inspector(*base, examples, command.options, report,
                                      [&](const train::EpochReport& epoch) {
                                        bar.show(epoch);
                                        return true;
                                      });
  }
  show(report, *base, output);
  const std::string note = format("transferred to %s, by %zu architectures",
                                  command.options.setting.c_str(), report.used.architectures);
  output.write(write_inspector(model, std::span(&note, 1)));
}

}  // namespace

void add_transfer(Command& app, Console& console) {
  auto command = std::make_shared<TransferCommand>();
  command->options.train.patience = 60;
  command->options.train.most_epochs = 1000;
  Command& sub = app.add_subcommand("transfer", "adapt an inspector to a new setting");
  sub.footer(
      "Example:\n  foretrain transfer inspector.json --data lab.db --setting ps1w2-core-1g "
      "-o adapted.json");
  sub.add_option("FILE", command->file, "what `foretrain fit inspector` wrote").required();
  sub.add_option("--data", command->data, "runs of the lab: a store, or a folder that it exported")
      .required();
  sub.add_option("--setting", command->options.setting, "whose runs it adapts to").required();
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  std::vector<std::string> partitions;
  for (const std::string_view name : train::partition_names()) partitions.emplace_back(name);
  sub.add_option("--partition", command->partition,
                 "what of a network is trained: driple (half of the repetitions and the dense "
                 "layers), repeated+mlp, repeated+gru, mlp, all")
      .one_of(partitions);
  add_share_options(sub, command->options.share, "the setting's");
  sub.add_option("--folds", command->options.folds,
                 "of architectures, for choices and intervals (5)")
      .check(number_range(2, 100));
  sub.add_option("--seed", command->options.share.seed, "of draws and of training");
  sub.add_option("--epochs", command->options.train.most_epochs, "of a network, at most so many")
      .check(number_range(1, 1'000'000));
  sub.add_option("--patience", command->options.train.patience,
                 "epochs without a lower validation loss until training ends")
      .check(number_range(1, 1'000'000));
  sub.add_option("--checkpoint", command->options.checkpoint,
                 "of a network: keep here where training stands, and go on from there");
  sub.callback([command, &console] { run_transfer(*command, console); });
}

}  // namespace foretrain::cli

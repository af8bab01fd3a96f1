// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/detail/network_rows.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/output_file.h"

namespace foretrain::train {
namespace {

constexpr double kAlternates = 0.5;  // share of the replays that must have bursts and idles
constexpr Seconds kBetweenCheckpoints{30};
constexpr std::uintmax_t kMostBytes = 1U << 30;  // of a checkpoint

const resource::UseName* use_named(const std::string& name) {
  for (const resource::UseName& use : resource::use_names()) {
    if (use.name == name) return &use;
  }
  return nullptr;
}

void write_checkpoint(const std::filesystem::path& file, const TrainState& state) {
  OutputFile output(file);
  output.write(write_state(state));
  output.commit();
}

TrainState first_state(const std::filesystem::path& checkpoint,
                       const learn::GraphNetwork& network) {
  if (checkpoint.empty() || !std::filesystem::exists(checkpoint)) return begin_training(network);
  TrainState state = read_state(read_file(checkpoint, kMostBytes), named(checkpoint));
  const auto& kept = state.network.parameters;
  bool same = kept.size() == network.parameters.size() &&
              state.network.shape.depth == network.shape.depth &&
              state.network.shape.readout_steps == network.shape.readout_steps;
  for (std::size_t i = 0; same && i < kept.size(); ++i) {
    const learn::NamedMatrix& one = network.parameters[i];
    same = kept[i].name == one.name && kept[i].matrix.rows == one.matrix.rows &&
           kept[i].matrix.columns == one.matrix.columns;
  }
  if (same) return state;
  throw Error(ErrorKind::BadInput,
              named(checkpoint) + ": of a training with other options; name another file");
}

// log(measured / predicted) of each output, over the rows that have it.
std::vector<std::vector<double>> differences_of(const Rows& rows, const InspectorNetwork& network) {
  std::vector<learn::GraphInput> inputs;
  std::vector<const learn::GraphInput*> pointers;
  for (const InspectorExample* row : rows) {
    inputs.push_back(inspector::network_input(*row->groups, row->features, network));
  }
  for (const learn::GraphInput& input : inputs) pointers.push_back(&input);
  const learn::Matrix outputs = learn::evaluate(network.network, pointers, 0);
  std::vector<std::vector<double>> differences(network.outputs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> logs =
        inspector::log_numbers(network, rows[i]->features, {outputs.row(i), outputs.columns});
    for (std::size_t j = 0; j < logs.size(); ++j) {
      const auto measured = measured_number(*rows[i], network.outputs[j]);
      if (measured) differences[j].push_back(std::log(*measured) - logs[j]);
    }
  }
  return differences;
}

// Mean error of physics with the offset alone; 0 without physics.
double physics_error(const Rows& rows, const NetworkOutput& output) {
  double sum = 0;
  double count = 0;
  for (const InspectorExample* row : rows) {
    const auto measured = measured_number(*row, output);
    if (!measured || !output.physics) continue;
    sum +=
        std::abs(std::exp(row->features.values[*output.physics] + output.offset) / *measured - 1);
    count += 1;
  }
  return sum / std::max(1.0, count);
}

void set_intervals(const SplitRows& rows, double confidence, InspectorNetwork& network,
                   NetworkReport& report) {
  const auto differences = differences_of(rows.intervals, network);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    NetworkOutput& output = network.outputs[i];
    if (differences[i].empty()) continue;
    const auto [low, high] = interval_ends(differences[i], confidence);
    output.low = std::min(low, 0.0);  // the value lies in its interval, however biased it is
    output.high = std::max(high, 0.0);
    double error = 0;
    for (const double one : differences[i]) error += std::abs(std::exp(-one) - 1);
    report.targets.push_back({output.name, "graph network", output.examples,
                              error / static_cast<double>(differences[i].size()),
                              physics_error(rows.intervals, output)});
  }
}

}  // namespace

SplitRows split_rows(const Rows& rows, std::size_t folds) {
  if (folds < 3) {
    throw Error(ErrorKind::BadInput,
                "a network needs at least 3 folds: to train on, to stop by, for its intervals");
  }
  const auto fold_of = folds_of(rows, folds);
  SplitRows split;
  for (const InspectorExample* row : rows) {
    const std::size_t fold = fold_of.at(row->job->model);
    (fold == 0 ? split.validation : fold == 1 ? split.intervals : split.train).push_back(row);
  }
  return split;
}

std::optional<double> measured_number(const InspectorExample& example,
                                      const NetworkOutput& output) {
  const resource::UseName* use = use_named(output.name);
  if (output.physics && use != nullptr &&
      example.replayed[index_of(use->resource)].alternating < kAlternates) {
    return std::nullopt;
  }
  return measured_target(example, output.name);
}

std::vector<GraphExample> graph_examples(const Rows& rows, const InspectorNetwork& network) {
  std::vector<GraphExample> examples;
  for (const InspectorExample* row : rows) {
    GraphExample one{inspector::network_input(*row->groups, row->features, network), {}};
    for (const NetworkOutput& output : network.outputs) {
      std::optional<double> target = measured_number(*row, output);
      if (target && output.physics) {
        target = std::log(*target) - row->features.values[*output.physics] - output.offset;
      }
      one.targets.push_back(target ? std::optional(static_cast<float>(*target / output.scale))
                                   : std::nullopt);
    }
    examples.push_back(std::move(one));
  }
  return examples;
}

void train_on(const SplitRows& rows, const NetworkTraining& options, InspectorNetwork& network,
              NetworkReport& report, const OnEpoch& on_epoch) {
  TrainState state = first_state(options.checkpoint, network.network);
  Seconds written{0};
  const auto each = [&](const EpochReport& epoch) {
    report.time = epoch.elapsed;
    if (!options.checkpoint.empty() && epoch.elapsed - written > kBetweenCheckpoints) {
      write_checkpoint(options.checkpoint, state);
      written = epoch.elapsed;
    }
    return !on_epoch || on_epoch(epoch);
  };
  const std::size_t before = state.epoch;
  const std::clock_t start = std::clock();
  train_network(graph_examples(rows.train, network), graph_examples(rows.validation, network),
                options.train, state, each);
  const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  report.per_epoch =
      Seconds{spent} / std::max<double>(1, static_cast<double>(state.epoch - before));
  if (!options.checkpoint.empty()) write_checkpoint(options.checkpoint, state);
  network.network = state.best;
  std::set<std::string> models;
  for (const InspectorExample* row : rows.train) models.insert(row->job->model);
  report.architectures = models.size();
  report.examples = rows.train.size();
  report.parameters = learn::parameter_count(network.network);
  report.epochs = state.epoch;
  report.best_epoch = state.best_epoch;
  report.validation_loss = state.best_loss;
  set_intervals(rows, options.confidence, network, report);
}

}  // namespace foretrain::train

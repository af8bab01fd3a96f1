// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_network.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/inspector/question_features.h"
#include "foretrain/train/detail/network_rows.h"

namespace foretrain::train {
namespace {

using resource::Number;

// The numbers that the paper has, of every resource; ours has the memory used beside them.
constexpr std::array kPublished{Number::BurstAmount, Number::BurstTime, Number::IdleTime};

// A mean and a deviation for each column; 1 where nothing varies.
class Moments {
 public:
  explicit Moments(std::size_t columns) : sum_(columns), squares_(columns) {}
  void add(const float* row) {
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      sum_[i] += static_cast<double>(row[i]);
      squares_[i] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    }
    ++count_;
  }
  Standard standard() const {
    constexpr double kSame = 1e-6;
    Standard found;
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      const double mean = sum_[i] / static_cast<double>(count_);
      const double variance = squares_[i] / static_cast<double>(count_) - mean * mean;
      const double deviation = std::sqrt(std::max(0.0, variance));
      found.mean.push_back(static_cast<float>(mean));
      found.deviation.push_back(deviation > kSame ? static_cast<float>(deviation) : 1);
    }
    return found;
  }

 private:
  std::vector<double> sum_;
  std::vector<double> squares_;
  std::size_t count_ = 0;
};

// Their share of all nodes, as the paper's frequency encoding has it.
std::map<std::string, double> codes_of(const Rows& rows) {
  std::map<std::string, double> codes;
  double nodes = 0;
  for (const InspectorExample* row : rows) {
    for (const inspector::GroupFacts& group : row->groups->groups) {
      for (const auto& [kind, count] : group.kinds) codes[kind] += count;
      nodes += group.nodes;
    }
  }
  for (auto& [kind, code] : codes) code /= nodes;
  return codes;
}

// Setting, prediction and replay; what the graph itself tells is left to its nodes.
std::vector<std::size_t> whole_features(const inspector::Features& features) {
  std::vector<std::size_t> whole;
  for (std::size_t i = features.whole_job; i < features.names.size(); ++i) whole.push_back(i);
  return whole;
}

// Scale and offset by the training rows; absent where too few have it. `physics`: the feature.
std::optional<NetworkOutput> output_of(std::string_view name, const SplitRows& rows,
                                       std::optional<std::size_t> physics, std::size_t least) {
  NetworkOutput output{.name = std::string(name), .physics = physics};
  std::vector<double> values;
  for (const InspectorExample* row : rows.train) {
    const auto measured = measured_number(*row, output);
    if (!measured) continue;
    values.push_back(output.physics ? std::log(*measured) - row->features.values[*output.physics]
                                    : *measured);
  }
  const auto is_in = [&](const Rows& some) {
    return std::any_of(some.begin(), some.end(), [&](const InspectorExample* row) {
      return measured_number(*row, output).has_value();
    });
  };
  if (values.size() < least || !is_in(rows.validation) || !is_in(rows.intervals)) {
    return std::nullopt;
  }
  output.examples = values.size();
  if (!output.physics) {
    output.scale = *std::max_element(values.begin(), values.end());
    output.least = *std::min_element(values.begin(), values.end());
    return output;
  }
  output.offset = median(values);
  double squares = 0;
  for (const double one : values) squares += (one - output.offset) * (one - output.offset);
  output.scale = std::max(1e-3, std::sqrt(squares / static_cast<double>(values.size())));
  return output;
}

std::vector<NetworkOutput> outputs_of(const SplitRows& rows, bool physics, std::size_t least) {
  std::vector<NetworkOutput> outputs;
  const auto add = [&](std::string_view name, std::string_view feature) {
    std::optional<std::size_t> known;
    if (physics) known = feature_named(rows.train.front()->features, feature);
    if (const auto output = output_of(name, rows, known, least)) outputs.push_back(*output);
  };
  for (const resource::UseName& use : resource::use_names()) {
    if (std::find(kPublished.begin(), kPublished.end(), use.number) == kPublished.end()) continue;
    add(use.name, inspector::physics_feature(use));
  }
  for (const resource::Role role : resource::kRoles) {
    if (physics) add(resource::memory_used_name(role), inspector::kMemoryFeature);
  }
  if (outputs.empty()) {
    throw Error(ErrorKind::BadInput, "no number was measured often enough to train on");
  }
  return outputs;
}

void set_standards(const Rows& rows, InspectorNetwork& network) {
  Moments nodes(inspector::node_feature_count(network.nodes));
  Moments whole(network.whole.size());
  for (const InspectorExample* row : rows) {
    const learn::GraphInput input = inspector::network_input(*row->groups, row->features, network);
    for (std::size_t i = 0; i < input.nodes.rows; ++i) nodes.add(input.nodes.row(i));
    whole.add(input.whole.data());
  }
  network.node_standard = nodes.standard();
  network.whole_standard = whole.standard();
}

Rows rows_of(const std::vector<InspectorExample>& examples, const NetworkFit& options,
             UsedShare& used) {
  Rows rows = rows_for_training(examples, options.settings, options.folds);
  std::erase_if(rows, [&](const InspectorExample* row) {
    return !row->groups || row->groups->groups.empty() ||
           std::find(options.roles.begin(), options.roles.end(), row->role) == options.roles.end();
  });
  if (rows.empty()) throw Error(ErrorKind::BadInput, "no run has such a role");
  return draw(rows, options.share, options.folds, used);
}

learn::NetworkShape shape_of(const NetworkFit& options, const InspectorNetwork& network) {
  learn::NetworkShape shape = options.shape;
  if (shape.depth == 0) shape.depth = std::max<std::size_t>(1, options.grouping.groups / 2);
  shape.features = inspector::node_feature_count(network.nodes);
  shape.whole_features = network.whole.size();
  shape.outputs = network.outputs.size();
  return shape;
}

}  // namespace

NetworkFit network_fit() {
  NetworkFit fit;
  fit.shape.depth = 0;
  fit.shape.readout_steps = 6;
  fit.train.rate = 1e-3;
  fit.train.weight_decay = 1e-4;
  fit.train.batch = 16;
  fit.train.patience = 60;
  fit.train.most_epochs = 1000;
  return fit;
}

NetworkFit driple_fit() {
  constexpr std::size_t kGroups = 100;
  NetworkFit fit;
  fit.nodes = NodeFeatures::Driple;
  fit.grouping.groups = kGroups;
  fit.shape = learn::driple_shape(kGroups);
  return fit;
}

InspectorModel fit_network(const std::vector<InspectorExample>& examples, const NetworkFit& options,
                           NetworkReport& report, const OnEpoch& on_epoch) {
  const Rows rows = rows_of(examples, options, report.used);
  const SplitRows split = split_rows(rows, options.folds);
  const bool physics = options.nodes == NodeFeatures::Physics;
  InspectorNetwork network{.grouping = options.grouping, .nodes = options.nodes};
  network.outputs = outputs_of(split, physics, options.least_examples);
  if (physics) {
    network.whole = whole_features(rows.front()->features);
    set_standards(split.train, network);
  } else {
    network.codes = codes_of(split.train);
  }
  network.network = learn::make_network(shape_of(options, network), options.train.seed);
  train_on(split, {options.train, options.confidence, options.checkpoint}, network, report,
           on_epoch);
  InspectorModel model;
  model.features = rows.front()->features.names;
  model.domain = domain_of(rows);
  model.confidence = options.confidence;
  model.network = std::move(network);
  return model;
}

}  // namespace foretrain::train

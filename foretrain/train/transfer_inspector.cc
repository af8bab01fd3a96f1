// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/transfer_inspector.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/train/detail/network_rows.h"

namespace foretrain::train {
namespace {

constexpr std::size_t kLeastExamples = 5;  // that a correction is learned from

// How far a correction goes.
enum class Change { None, Offset, Trees };
constexpr std::array kChanges{Change::None, Change::Offset, Change::Trees};
constexpr std::array<const char*, kChanges.size()> kNames{"as it was", "offset",
                                                          "offset and trees"};

// One number of the setting's examples.
struct Column {
  Rows rows{};
  std::vector<double> differences{};  // log(measured / predicted by the base)
};

Column column_of(const InspectorTarget& target, const Rows& rows) {
  Column column;
  for (const InspectorExample* row : rows) {
    const std::optional<double> measured = measured_target(*row, target.name);
    if (!measured) continue;
    column.rows.push_back(row);
    column.differences.push_back(std::log(*measured) -
                                 learn::evaluate(target.model, row->features.values));
  }
  return column;
}

learn::Hybrid changed(const learn::Hybrid& base, const Column& column,
                      const std::vector<std::size_t>& chosen, Change change,
                      const BoostOptions& options) {
  if (change == Change::None) return base;
  BoostData data;
  for (const std::size_t i : chosen) {
    data.features.push_back(column.rows[i]->features.values);
    data.targets.push_back(column.differences[i]);
    data.weights.push_back(1);
  }
  const double offset = median(data.targets);
  if (change == Change::Offset) return with_correction(base, offset, {});
  for (double& target : data.targets) target -= offset;
  return with_correction(base, offset, boost(data, options));
}

// log(measured / predicted) of every row, by corrections that never saw its architecture.
std::vector<double> left_out(const learn::Hybrid& base, const Column& column, Change change,
                             const TransferFit& options) {
  const auto fold_of = folds_of(column.rows, options.folds);
  std::vector<double> differences = column.differences;
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    std::vector<std::size_t> seen;
    std::vector<std::size_t> unseen;
    for (std::size_t i = 0; i < column.rows.size(); ++i) {
      (fold_of.at(column.rows[i]->job->model) == fold ? unseen : seen).push_back(i);
    }
    if (seen.empty()) continue;
    const learn::Hybrid hybrid = changed(base, column, seen, change, options.trees);
    for (const std::size_t i : unseen) {
      const std::vector<double>& features = column.rows[i]->features.values;
      differences[i] += learn::evaluate(base, features) - learn::evaluate(hybrid, features);
    }
  }
  return differences;
}

double mean_error(const std::vector<double>& differences) {
  double sum = 0;
  for (const double one : differences) sum += std::abs(std::exp(-one) - 1);
  return sum / static_cast<double>(differences.size());
}

InspectorTarget transfer_target(const InspectorTarget& base, const Rows& rows, double confidence,
                                const TransferFit& options, TransferReport& report) {
  const Column column = column_of(base, rows);
  if (column.rows.size() < kLeastExamples) return base;
  std::array<std::vector<double>, kChanges.size()> differences;
  std::size_t best = 0;
  for (std::size_t i = 0; i < kChanges.size(); ++i) {
    differences[i] = left_out(base.model, column, kChanges[i], options);
    if (mean_error(differences[i]) < mean_error(differences[best])) best = i;
  }
  std::vector<std::size_t> all(column.rows.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  InspectorTarget target = base;
  target.model = changed(base.model, column, all, kChanges[best], options.trees);
  std::tie(target.low, target.high) = interval_ends(differences[best], confidence);
  target.examples = column.rows.size();
  report.trees.push_back({base.name, kNames[best], column.rows.size(),
                          mean_error(differences[best]), mean_error(differences.front())});
  return target;
}

bool has_role(const InspectorNetwork& network, const InspectorExample& row) {
  const std::string role = std::string(name_of(row.role)) + ".";
  return std::any_of(network.outputs.begin(), network.outputs.end(),
                     [&](const NetworkOutput& output) { return output.name.starts_with(role); });
}

InspectorNetwork transfer_network(const InspectorNetwork& base, Rows rows, double confidence,
                                  const TransferFit& options, NetworkReport& report,
                                  const OnEpoch& on_epoch) {
  std::erase_if(rows, [&](const InspectorExample* row) {
    return !row->groups || row->groups->groups.empty() || !has_role(base, *row);
  });
  const SplitRows split = split_rows(rows, options.folds);
  if (split.train.empty() || split.validation.empty() || split.intervals.empty()) {
    throw Error(ErrorKind::BadInput, "the setting has no runs of the roles that the network knows");
  }
  Transfer transfer = transfer_from(base.network, options.partition);
  InspectorNetwork network = base;
  network.network = std::move(transfer.network);
  NetworkTraining training{options.train, confidence, options.checkpoint};
  training.train.frozen = std::move(transfer.frozen);
  training.train.seed = options.share.seed;
  train_on(split, training, network, report, on_epoch);
  return network;
}

// `more` as further trees, each leaf times `scale`.
void append(const learn::Trees& more, double scale, learn::Trees& trees) {
  const auto first = static_cast<std::int32_t>(trees.nodes.size());
  trees.base += static_cast<float>(scale * static_cast<double>(more.base));
  for (const std::int32_t root : more.roots) trees.roots.push_back(first + root);
  for (learn::TreeNode node : more.nodes) {
    if (node.feature < 0) {
      node.value = static_cast<float>(scale * static_cast<double>(node.value));
    } else {
      node.left += first;
    }
    trees.nodes.push_back(node);
  }
}

// What the base knows of architectures stays known; the setting's own ranges come to it.
std::vector<FeatureRange> joined(std::vector<FeatureRange> base,
                                 const std::vector<FeatureRange>& setting) {
  for (const FeatureRange& one : setting) {
    const auto known = std::find_if(base.begin(), base.end(), [&](const FeatureRange& range) {
      return range.feature == one.feature;
    });
    if (known == base.end()) continue;  // the base has no bounds there
    known->least = std::min(known->least, one.least);
    known->most = std::max(known->most, one.most);
  }
  return base;
}

}  // namespace

learn::Hybrid with_correction(const learn::Hybrid& base, double offset, const learn::Trees& trees) {
  learn::Hybrid hybrid = base;
  if (base.weight > 0) {
    hybrid.offset += offset / base.weight;
    append(trees, 1 / base.weight, hybrid.residual);
  } else {
    append(trees, 1, hybrid.absolute);
    hybrid.absolute.base += static_cast<float>(offset);
  }
  return hybrid;
}

InspectorModel transfer_inspector(const InspectorModel& base,
                                  const std::vector<InspectorExample>& examples,
                                  const TransferFit& options, TransferReport& report,
                                  const OnEpoch& on_epoch) {
  const Rows rows = draw(rows_for_training(examples, {options.setting}, options.folds),
                         options.share, options.folds, report.used);
  if (rows.front()->features.names != base.features) {
    throw Error(ErrorKind::BadInput,
                "the inspector was fitted by another version of this program; fit it anew: "
                "foretrain fit inspector --data DATA -o FILE");
  }
  InspectorModel model = base;
  model.domain = joined(base.domain, domain_of(rows));
  for (InspectorTarget& target : model.targets) {
    target = transfer_target(target, rows, model.confidence, options, report);
  }
  if (base.network) {
    model.network =
        transfer_network(*base.network, rows, model.confidence, options, report.network, on_epoch);
  }
  return model;
}

}  // namespace foretrain::train

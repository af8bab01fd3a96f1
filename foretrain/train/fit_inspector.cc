// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_inspector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "foretrain/base/median.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/inspector/question_features.h"
#include "foretrain/train/detail/inspector_rows.h"

namespace foretrain::train {
namespace {

using resource::UseName;

constexpr double kLeastGain =
    1e-6;  // in its logarithm: rounding does not decide against simple forms
constexpr std::array<std::string_view, 3> kMethods{"hybrid", "physics", "trees"};

// One number of every example that has it.
struct Column {
  std::string name;
  std::optional<std::size_t> physics{};  // the feature
  std::vector<const InspectorExample*> examples{};
  std::vector<double> targets{};  // logarithms
};

// A machine differs from another by a factor of each number that its calibration leaves: what other
// machines measured is brought to the first by the medians beside physics.
void bring_to_first_machine(Column& column) {
  std::map<std::size_t, std::vector<double>> differences;  // by machine
  for (std::size_t i = 0; i < column.examples.size(); ++i) {
    const InspectorExample& one = *column.examples[i];
    const double physics = column.physics ? one.features.values[*column.physics] : 0;
    differences[one.machine].push_back(column.targets[i] - physics);
  }
  if (differences.size() < 2 || !differences.contains(0)) return;
  std::map<std::size_t, double> middle;
  for (auto& [machine, some] : differences) middle[machine] = median(std::move(some));
  for (std::size_t i = 0; i < column.examples.size(); ++i) {
    column.targets[i] += middle.at(0) - middle.at(column.examples[i]->machine);
  }
}

Column column_of(std::string_view name, std::string_view physics,
                 const std::vector<const InspectorExample*>& examples) {
  Column column{.name = std::string(name)};
  column.physics = feature_named(examples.front()->features, physics);
  for (const InspectorExample* one : examples) {
    const std::optional<double> value = measured_target(*one, name);
    if (!value) continue;
    column.examples.push_back(one);
    column.targets.push_back(std::log(*value));
  }
  bring_to_first_machine(column);
  return column;
}

std::vector<Column> columns_of(const std::vector<const InspectorExample*>& examples,
                               std::size_t least) {
  std::vector<Column> columns;
  columns.push_back(column_of(inspector::kStepTime, inspector::kStepFeature, examples));
  for (const UseName& use : resource::use_names()) {
    columns.push_back(column_of(use.name, inspector::physics_feature(use), examples));
  }
  for (const resource::Role role : resource::kRoles) {
    columns.push_back(
        column_of(resource::memory_used_name(role), inspector::kMemoryFeature, examples));
  }
  std::erase_if(columns, [&](const Column& column) { return column.examples.size() < least; });
  return columns;
}

// Without two folds no architecture could be left out.
bool can_leave_out(const Column& column, const std::map<std::string, std::size_t>& fold_of) {
  const auto fold = [&](const InspectorExample* one) { return fold_of.at(one->job->model); };
  return std::any_of(column.examples.begin(), column.examples.end(),
                     [&](const auto* one) { return fold(one) != fold(column.examples.front()); });
}

// Features that trees may see: without physics the others are unknown to them.
std::vector<double> seen(const InspectorExample& example, InspectorMethod method) {
  std::vector<double> values = example.features.values;
  if (method == InspectorMethod::Trees) values.resize(example.features.without_physics);
  return values;
}

// What a fit of one column gives: the parts that forms are mixed of.
struct Parts {
  double offset = 0;
  learn::Trees residual;
  learn::Trees absolute;
};

Parts fit_parts(const Column& column, const std::vector<std::size_t>& rows,
                const InspectorFit& options) {
  Parts parts;
  BoostData data;
  std::vector<double> differences;
  for (const std::size_t row : rows) {
    data.features.push_back(seen(*column.examples[row], options.method));
    data.weights.push_back(1);
    data.targets.push_back(column.targets[row]);
    const double physics =
        column.physics ? column.examples[row]->features.values[*column.physics] : 0;
    differences.push_back(column.targets[row] - physics);
  }
  if (options.method != InspectorMethod::Physics) parts.absolute = boost(data, options.trees);
  if (!column.physics || options.method == InspectorMethod::Trees) return parts;
  parts.offset = median(differences);
  if (options.method != InspectorMethod::Hybrid) return parts;
  for (std::size_t i = 0; i < rows.size(); ++i) data.targets[i] = differences[i] - parts.offset;
  parts.residual = boost(data, options.trees);
  return parts;
}

// A way to mix the parts.
struct Form {
  const char* name;
  double weight;      // of physics
  double correction;  // by the residual trees: how much of it
};

std::vector<Form> forms_of(const Column& column, InspectorMethod method) {
  const Form physics{"physics", 1, 0};
  const Form trees{"trees", 0, 0};
  if (method == InspectorMethod::Trees || !column.physics) return {trees};
  if (method == InspectorMethod::Physics) return {physics};
  return {physics,
          {"half the residual", 1, 0.5},
          {"residual trees", 1, 1},
          {"half residual, half trees", 0.5, 1},
          trees};
}

// Trees that predict so much of what these do.
learn::Trees scaled(learn::Trees trees, double factor) {
  trees.base *= static_cast<float>(factor);
  for (learn::TreeNode& node : trees.nodes) {
    if (node.feature < 0) node.value *= static_cast<float>(factor);
  }
  return trees;
}

learn::Hybrid mix(const Column& column, const Form& form, const Parts& parts) {
  learn::Hybrid hybrid{.physics = column.physics, .offset = parts.offset, .weight = form.weight};
  if (form.correction > 0) hybrid.residual = scaled(parts.residual, form.correction);
  if (form.weight < 1) hybrid.absolute = parts.absolute;
  return hybrid;
}

double relative_error(double log_ratio) { return std::abs(std::exp(log_ratio) - 1); }

// For each form log(measured / predicted) of every row, by models that never saw its architecture.
std::vector<std::vector<double>> cross_validate(const Column& column,
                                                const std::vector<Form>& forms,
                                                const std::map<std::string, std::size_t>& fold_of,
                                                const InspectorFit& options) {
  std::vector<std::vector<double>> differences(forms.size(),
                                               std::vector<double>(column.targets.size()));
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    std::vector<std::size_t> rows;
    std::vector<std::size_t> left_out;
    for (std::size_t i = 0; i < column.examples.size(); ++i) {
      const bool out = fold_of.at(column.examples[i]->job->model) == fold;
      (out ? left_out : rows).push_back(i);
    }
    if (rows.empty() || left_out.empty()) continue;
    const Parts parts = fit_parts(column, rows, options);
    for (std::size_t f = 0; f < forms.size(); ++f) {
      const learn::Hybrid hybrid = mix(column, forms[f], parts);
      for (const std::size_t row : left_out) {
        differences[f][row] =
            column.targets[row] - learn::evaluate(hybrid, column.examples[row]->features.values);
      }
    }
  }
  return differences;
}

// What forms are chosen by: a factor of two too low is as bad as one too high.
double mean_size(const std::vector<double>& differences) {
  double sum = 0;
  for (const double one : differences) sum += std::abs(one);
  return sum / static_cast<double>(differences.size());
}

double mean_error(const std::vector<double>& differences) {
  double sum = 0;
  for (const double one : differences) sum += relative_error(-one);
  return sum / static_cast<double>(differences.size());
}

struct Fitted {
  InspectorTarget target;
  TargetFit report;
};

Fitted fit_column(const Column& column, const std::map<std::string, std::size_t>& fold_of,
                  const InspectorFit& options) {
  const std::vector<Form> forms = forms_of(column, options.method);
  const auto differences = cross_validate(column, forms, fold_of, options);
  std::size_t best = 0;
  for (std::size_t f = 1; f < forms.size(); ++f) {
    if (mean_size(differences[f]) < mean_size(differences[best]) - kLeastGain) best = f;
  }
  std::vector<std::size_t> all(column.examples.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto [low, high] = interval_ends(differences[best], options.confidence);
  Fitted fitted;
  fitted.target = {column.name, mix(column, forms[best], fit_parts(column, all, options)), low,
                   high, column.examples.size()};
  fitted.report = {
      column.name, forms[best].name, column.examples.size(), mean_error(differences[best]), {}};
  if (forms.front().weight == 1) fitted.report.physics = mean_error(differences.front());
  return fitted;
}

}  // namespace

std::string_view name_of(InspectorMethod method) {
  return kMethods.at(static_cast<std::size_t>(method));
}

std::optional<InspectorMethod> inspector_method_named(std::string_view name) {
  const auto found = std::find(kMethods.begin(), kMethods.end(), name);
  if (found == kMethods.end()) return std::nullopt;
  return static_cast<InspectorMethod>(found - kMethods.begin());
}

InspectorModel fit_inspector(const std::vector<InspectorExample>& examples,
                             const InspectorFit& options, std::vector<TargetFit>& found,
                             const std::function<void(double)>& progress, UsedShare* used) {
  UsedShare drawn;
  const Rows chosen = draw(rows_for_training(examples, options.settings, options.folds),
                           options.share, options.folds, drawn);
  if (used != nullptr) *used = drawn;
  std::vector<Column> columns = columns_of(chosen, options.least_examples);
  const auto fold_of = folds_of(chosen, options.folds);
  std::erase_if(columns, [&](const Column& one) { return !can_leave_out(one, fold_of); });
  std::vector<Fitted> fitted(columns.size());
  std::mutex turn;
  std::size_t done = 0;
  parallel_for(columns.size(), options.threads, [&](std::size_t i) {
    fitted[i] = fit_column(columns[i], fold_of, options);
    const std::lock_guard lock(turn);
    ++done;
    if (progress) progress(static_cast<double>(done) / static_cast<double>(columns.size()));
  });
  InspectorModel model;
  model.features = chosen.front()->features.names;
  model.domain = domain_of(chosen);
  model.confidence = options.confidence;
  for (Fitted& one : fitted) {
    model.targets.push_back(std::move(one.target));
    found.push_back(std::move(one.report));
  }
  return model;
}

}  // namespace foretrain::train

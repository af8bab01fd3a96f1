// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/answer.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/inspector/features.h"
#include "foretrain/inspector/network_input.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

constexpr std::string_view kWhy = "learned from measured runs, as a correction of the timeline";
constexpr std::string_view kNetworkWhy = "learned from measured runs, by a graph network";

using RoleReplay = std::array<Replayed, kResources.size()>;

constexpr double kAlternates = 0.5;  // share of the replays that must have bursts and idles

// Which number of the report a target of the role is; absent for what is of the other role, does
// not alternate, or is not known to this program.
std::optional<std::string_view> report_name(std::string_view target, Role role,
                                            const RoleReplay& replayed) {
  if (target == kStepTime && role == Role::Worker) return kStepTime;
  for (const resource::UseName& one : resource::use_names()) {
    if (one.name != target || one.role != role) continue;
    if (replayed[index_of(one.resource)].alternating < kAlternates) return std::nullopt;
    return one.report;
  }
  return std::nullopt;
}

bool is_like_measured(const InspectorModel& model, const Features& features) {
  return std::all_of(model.domain.begin(), model.domain.end(), [&](const FeatureRange& range) {
    const double value = features.values[range.feature];
    return value >= range.least && value <= range.most;
  });
}

// `how`: a target or an output of a network, with its interval.
template <typename How>
Estimate estimate(const How& how, double log_value, double confidence) {
  return {std::exp(log_value), std::exp(log_value + how.low), std::exp(log_value + how.high),
          confidence};
}

void check_features(const InspectorModel& model, const Features& features) {
  if (features.names == model.features) return;
  throw Error(ErrorKind::BadInput,
              "the inspector in 'predictors' was fitted by another version of this program; fit it "
              "anew: foretrain fit inspector --data DATA -o FILE");
}

bool has_output(const InspectorModel& model, const std::string& name) {
  return model.network && std::any_of(model.network->outputs.begin(), model.network->outputs.end(),
                                      [&](const auto& output) { return output.name == name; });
}

void add_network(const InspectorModel& model, const operators::Stages& stages,
                 const Features& features, Role role, const RoleReplay& replayed, Answer& answer) {
  const InspectorNetwork& network = *model.network;
  std::vector<std::optional<std::string_view>> reports;
  for (const NetworkOutput& output : network.outputs) {
    reports.push_back(report_name(output.name, role, replayed));
  }
  if (std::none_of(reports.begin(), reports.end(), [](const auto& one) { return one; })) return;
  const learn::GraphInput input =
      network_input(step_groups(stages, network.grouping), features, network);
  const learn::Matrix outputs = learn::evaluate(network.network, {&input}, 1);
  const std::vector<double> logs = log_numbers(network, features, outputs.values);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i]) continue;
    answer.targets.push_back(
        {*reports[i], estimate(network.outputs[i], logs[i], model.confidence), true, kNetworkWhy});
  }
}

// Adds what the model says of one role; false where no measured job was like this one.
bool add_role(const InspectorModel& model, const Question& question, Role role, Answer& answer) {
  const operators::Stages& stages = operators::stages_of(question);
  const RoleReplay replayed = replay(curves_of(stages, question.resolved(), role));
  const Features features = features_of(stages, question.resolved(), role, replayed);
  check_features(model, features);
  if (!is_like_measured(model, features)) return false;
  for (const InspectorTarget& target : model.targets) {
    const std::optional<std::string_view> report = report_name(target.name, role, replayed);
    if (!report || has_output(model, target.name)) continue;
    const double log_value = learn::evaluate(target.model, features.values);
    answer.targets.push_back({*report, estimate(target, log_value, model.confidence), true, kWhy});
  }
  if (model.network) add_network(model, stages, features, role, replayed, answer);
  return true;
}

bool is_for(const InspectorModel& model, const Question& question) {
  const Resolved& resolved = question.resolved();
  if (resolved.mode != Mode::Train) return false;
  const std::string& device =
      operators::slowest_device(operators::stages_of(question), resolved).name;
  return device.substr(0, device.find(':')) == model.device;
}

}  // namespace

std::optional<Answer> InspectorEngine::answer(const Question& question) const {
  const Resolved& resolved = question.resolved();
  if (!resolved.inspector || !is_for(*resolved.inspector, question)) return std::nullopt;
  Answer answer{name(), {}};
  const bool servers = resolved.strategy.kind == Parallel::ParameterServer;
  for (const Role role : resource::kRoles) {
    if (role == Role::Server && !servers) continue;
    if (!add_role(*resolved.inspector, question, role, answer)) return std::nullopt;
  }
  return answer;
}

}  // namespace foretrain::inspector

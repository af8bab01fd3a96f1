// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/inspector/network_input.h"
#include "foretrain/inspector/question_features.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

constexpr std::string_view kWhy = "learned from measured runs, as a correction of the timeline";
constexpr std::string_view kNetworkWhy = "learned from measured runs, by a graph network";

using RoleReplay = std::array<Replayed, kResources.size()>;

constexpr double kAlternates = 0.5;  // share of the replays that must have bursts and idles

// A number of the report that a target of the model is.
struct Reported {
  std::string_view name;
  double most = std::numeric_limits<double>::infinity();  // that it can be
};

// Shares of the device and of its memory are percent, those of the time fractions.
double most_of(const resource::UseName& use) {
  using resource::Number;
  const bool share = use.resource == Resource::Device || use.resource == Resource::Memory;
  if (use.number == Number::BurstShare) return 1;
  if (use.number == Number::BurstTime || use.number == Number::IdleTime || !share) {
    return std::numeric_limits<double>::infinity();
  }
  return 100;
}

// Absent for what is of the other role, does not alternate, or is not known to this program.
std::optional<Reported> reported(std::string_view target, Role role, const RoleReplay& replayed) {
  if (target == kStepTime && role == Role::Worker) return Reported{kStepTime};
  if (target == resource::memory_used_name(role)) return Reported{memory_used_report(role)};
  for (const resource::UseName& one : resource::use_names()) {
    if (one.name != target || one.role != role) continue;
    if (replayed[index_of(one.resource)].alternating < kAlternates) return std::nullopt;
    return Reported{one.report, most_of(one)};
  }
  return std::nullopt;
}

bool is_like_measured(const InspectorModel& model, const Features& features) {
  return std::all_of(model.domain.begin(), model.domain.end(), [&](const FeatureRange& range) {
    const double value = features.values[range.feature];
    return value >= range.least && value <= range.most;
  });
}

// `how`: a target or an output of a network, with its interval; nothing is above `most`.
template <typename How>
Estimate estimate(const How& how, double log_value, double most, double confidence) {
  const auto value = [&](double more) { return std::min(most, std::exp(log_value + more)); };
  return {value(0), value(how.low), value(how.high), confidence};
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

void add(const Reported& number, const Estimate& told, std::string_view why, Answer& answer) {
  if (!(told.value > 0) || !std::isfinite(told.value) || !std::isfinite(*told.high)) return;
  answer.targets.push_back({number.name, told, true, why});
}

void add_network(const InspectorModel& model, const operators::Stages& stages,
                 const Features& features, Role role, const RoleReplay& replayed, Answer& answer) {
  const InspectorNetwork& network = *model.network;
  std::vector<std::optional<Reported>> numbers;
  for (const NetworkOutput& output : network.outputs) {
    numbers.push_back(reported(output.name, role, replayed));
  }
  const auto is_told = [](const auto& one) { return one.has_value(); };
  if (std::none_of(numbers.begin(), numbers.end(), is_told)) return;
  const learn::GraphInput input =
      network_input(step_groups(stages, network.grouping), features, network);
  const learn::Matrix outputs = learn::evaluate(network.network, {&input}, 1);
  const std::vector<double> logs = log_numbers(network, features, outputs.values);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!numbers[i]) continue;
    const double most = numbers[i]->most;
    add(*numbers[i], estimate(network.outputs[i], logs[i], most, model.confidence), kNetworkWhy,
        answer);
  }
}

// Adds what the model says of one role; false where no measured job was like this one.
bool add_role(const InspectorModel& model, const Question& question, Role role, Answer& answer) {
  const operators::Stages& stages = operators::stages_of(question);
  // The domain is told by features that need no replay, which is long where steps are.
  Features features = question_features(question, role, {});
  check_features(model, features);
  if (!is_like_measured(model, features)) return false;
  const RoleReplay replayed = replay(curves_of(stages, question.resolved(), role));
  features = question_features(question, role, replayed);
  for (const InspectorTarget& target : model.targets) {
    const std::optional<Reported> number = reported(target.name, role, replayed);
    if (!number || has_output(model, target.name)) continue;
    const double log_value = learn::evaluate(target.model, features.values);
    add(*number, estimate(target, log_value, number->most, model.confidence), kWhy, answer);
  }
  if (model.network) add_network(model, stages, features, role, replayed, answer);
  return true;
}

bool is_for(const InspectorModel& model, const Question& question) {
  const Resolved& resolved = question.resolved();
  if (resolved.mode != Mode::Train) return false;
  if (!operators::stages_of(question).pipeline.empty()) return false;  // none was measured
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

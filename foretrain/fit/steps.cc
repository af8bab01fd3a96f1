// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/steps.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/fit/step_clock.h"

namespace foretrain::fit {
namespace {

using cost::Constants;
using Cases = std::vector<std::unique_ptr<StepCase>>;
using Machines = std::map<std::string, Machine>;

// Which steps decide which constants.
struct Group {
  const char* name;
  std::vector<Precision> precisions;
  std::vector<std::string_view> constants;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {"fp32 steps",
       {Precision::Fp32},
       {"host.conv",
        "host.batch_norm",
        "host.linear",
        "host.concat",
        "host.pool",
        "host.other",
        "host.conv_grad",
        "host.batch_norm_grad",
        "host.pointwise_grad",
        "host.accumulate",
        "host.branch",
        "host.other_grad",
        "host.zero",
        "cap.conv",
        "bandwidth.conv",
        "launch.conv",
        "vector_conv.weight_grad",
        "vector_conv.grouped",
        "vector_conv.depthwise",
        "vector_conv.depthwise_grad",
        "vector_conv.bias",
        "streams.max_pool"}},
      {"fp16 and TF32 steps",
       {Precision::Fp16, Precision::Tf32},
       {"tensor_conv.", "cap.tensor_conv", "cap.converted", "bandwidth.conv_short",
        "streams.batch_norm_short"}},
  };
  return kGroups;
}

Cases read_cases(const std::filesystem::path& file, const StepsFit& options,
                 const Library& library) {
  Cases cases;
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& row) {
    if (row.outcome != evaluate::Outcome::Predicted || row.workers != 1) return;
    if (named_by_any(row.device, options.without) || named_by_any(row.model, options.without))
      return;
    const bool half = row.precision == "fp16" || row.precision == "tf32";
    if (half || row.precision == "fp32") cases.push_back(make_step_case(row, library));
  };
  evaluate::evaluate(file, {}, library, observer);
  if (cases.empty()) {
    throw Error(ErrorKind::NotFound, "no measured step of one worker in '" +
                                         printable(file.string()) + "' is left to fit");
  }
  return cases;
}

// Mean over devices and precisions of the mean of |ln(predicted / measured)|.
double loss(const std::vector<const StepCase*>& cases, const Constants& constants,
            const Machines& machines) {
  const cost::OperatorModel model = cost::make_operator_model(constants);
  std::map<std::pair<std::string, Precision>, std::pair<double, int>> sums;
  for (const StepCase* one : cases) {
    const double time = step_time(*one, model, machines.at(one->device)).count();
    auto& [sum, count] = sums[{one->device, one->precision}];
    sum += std::abs(std::log(time / one->measured_s));
    ++count;
  }
  double all = 0;
  for (const auto& [key, sum] : sums) all += sum.first / sum.second;
  return all / static_cast<double>(sums.size());
}

FittedGroup fit_group(const Group& group, const Cases& all, int evaluations, Constants& constants,
                      Machines& machines) {
  std::vector<const StepCase*> cases;
  for (const auto& one : all) {
    const auto& wanted = group.precisions;
    const bool in = std::find(wanted.begin(), wanted.end(), one->precision) != wanted.end();
    if (in) cases.push_back(one.get());
  }
  std::vector<cost::NamedConstant> varied = varied_constants(constants, group.constants);
  FittedGroup fitted{group.name, cases.size(), varied.size(), 0, 0};
  if (cases.empty()) return fitted;
  for (const StepCase* one : cases) machines.try_emplace(one->device);
  for (auto& [device, machine] : machines) {
    varied.push_back({"host of " + device, &machine.host});
    varied.push_back({"copy of " + device, &machine.copy});
  }
  fitted.before = loss(cases, constants, machines);
  search(varied, evaluations, [&] { return loss(cases, constants, machines); });
  fitted.after = loss(cases, constants, machines);
  return fitted;
}

// The reference machine is the mean of those that were measured.
void centre_hosts(Constants& constants, Machines& machines) {
  double logs = 0;
  for (const auto& [device, machine] : machines) logs += std::log(machine.host);
  const double mean = std::exp(logs / static_cast<double>(machines.size()));
  for (auto& [device, machine] : machines) machine.host /= mean;
  for (const cost::NamedConstant& constant : cost::named_constants(constants)) {
    if (constant.name.starts_with("host.")) *constant.value /= mean;
  }
}

}  // namespace

FittedSteps fit_steps(const std::filesystem::path& file, const StepsFit& options,
                      const Library& library, Constants& constants) {
  const Cases cases = read_cases(file, options, library);
  FittedSteps fitted;
  for (const Group& group : groups()) {
    fitted.groups.push_back(
        fit_group(group, cases, options.evaluations, constants, fitted.machines));
  }
  centre_hosts(constants, fitted.machines);
  return fitted;
}

}  // namespace foretrain::fit

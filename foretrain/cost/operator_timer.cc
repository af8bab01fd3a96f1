// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/operator_timer.h"

#include <utility>

#include "foretrain/cost/cpu.h"
#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/make_context.h"
#include "foretrain/cost/detail/update.h"

namespace foretrain::cost {

// The context points to its neighbours, so they stay together in one place.
struct OperatorTimer::Parts {
  hw::Device device;
  Framework framework;
  std::shared_ptr<const OperatorModel> model;
  Context context;
};

OperatorTimer::OperatorTimer(const hw::Device& device, const Framework& framework,
                             Precision precision, std::shared_ptr<const OperatorModel> model,
                             Repetition repetition) {
  auto parts = std::make_shared<Parts>(Parts{device, framework, std::move(model), {}});
  parts->context = context_for(parts->device, parts->framework, precision, *parts->model);
  parts->context.repeated = repetition == Repetition::Alone;
  parts_ = std::move(parts);
}

OpTime OperatorTimer::time(const graph::NodeView& view, const graph::Work& work) const {
  return analytic_time(view, work, parts_->context);
}

OpTime OperatorTimer::conv_time(const graph::NodeView& view, ConvAlgorithm algorithm) const {
  return cost::conv_time(view, parts_->context, algorithm);
}

Seconds OperatorTimer::host_time(const graph::NodeView& view) const {
  return cost::host_time(view, parts_->context);
}

int OperatorTimer::launch_parts(const graph::Node& node, int kernels) const {
  return cost::launch_parts(node, kernels, parts_->framework);
}

double OperatorTimer::update_bytes(const graph::NodeView& view) const {
  return cost::update_bytes(view, graph::work(view), parts_->framework);
}

Seconds OperatorTimer::copy_time(double bytes) const {
  const Context& context = parts_->context;
  return Seconds{2 * bytes / context.memory_bytes_per_s + context.launch_s};
}

Seconds OperatorTimer::copy_host_time() const {
  return Seconds{1e-6 * parts_->model->constants.host.update * parts_->framework.host_scale};
}

void OperatorTimer::share_power(std::span<OpTime> step) const {
  cost::share_power(step, parts_->context);
}

double OperatorTimer::cpu_call_factor() const {
  return cost::cpu_call_factor(parts_->device, parts_->model->constants.cpu);
}

const hw::Device& OperatorTimer::device() const { return parts_->device; }

}  // namespace foretrain::cost

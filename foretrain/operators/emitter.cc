// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/emitter.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/normal.h"
#include "foretrain/cost/cpu.h"
#include "foretrain/cost/update.h"

namespace foretrain::operators {
namespace {

// Devices that share a host without reaching each other's memory slow one another down.
// Source: fit on 1 to 4 T4 per cloud node (Pollux data), docs/models.md.
constexpr double kSharedNodeSlowdown = 0.03;

// How much longer the slowest of all workers (the straggler) needs than one of them on average.
// What varies evens out over several passes.
double straggling(const Resolved& resolved) {
  if (!parallel::waits_for_straggler(resolved)) return 1;
  const double spread = resolved.variation / std::sqrt(static_cast<double>(resolved.passes));
  return 1 + spread * expected_largest(resolved.workers);
}

}  // namespace

Emitter::Emitter(const Step& step, const graph::Bound& bound, const Resolved& resolved,
                 const Library& library, StepProgram& program, WorkerClass& worker)
    : step_(step),
      bound_(bound),
      slowest_(straggling(resolved)),
      host_scale_(slowest_ / resolved.host_speed),
      program_(program),
      worker_(worker),
      copying_host_(bound.graph->nodes.size(), Seconds{0}) {
  const hw::Device& device = resolved.cluster.devices[static_cast<std::size_t>(worker.device)];
  context_ =
      cost::context_for(device, *resolved.framework, resolved.precision, *resolved.operators);
  worker_.host = sim::add_resource(program.program, sim::Service::InOrder);
  worker_.stream = sim::add_resource(program.program, sim::Service::InOrder);
  time_nodes(library);
  const double calls = static_cast<double>(resolved.passes) * resolved.framework->call_s;
  waiting_host_ = Seconds{host_scale_ * calls};
}

void Emitter::time_nodes(const Library& library) {
  const double crowded = slowest_ * (1 + kSharedNodeSlowdown * (worker_.devices_on_node - 1));
  const std::vector<graph::Node>& nodes = bound_.graph->nodes;
  worker_.ops.reserve(nodes.size());
  program_.gemm_flops = 0;
  for (const graph::Node& node : nodes) {
    if (graph::is_communication(node)) {
      worker_.ops.emplace_back();
      continue;
    }
    const graph::NodeView view{bound_, node};
    const graph::Work work = graph::work(view);
    worker_.ops.push_back(library.op_timer(view, work, context_));
    program_.gemm_flops += work.flops;
  }
  cost::share_power(worker_.ops, context_);
  Seconds opaque{0};
  Seconds all{0};
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Seconds& total = worker_.ops[n].total;
    total *= crowded;
    all += total;
    if (nodes[n].kind == graph::Kind::Opaque) opaque += total;
  }
  if (all.count() > 0) program_.opaque_share = std::max(program_.opaque_share, opaque / all);
}

void Emitter::copy_input(Seconds time) {
  sim::add_task(program_.program, {worker_.host, time, kCopyTask, 0}, {});
}

void Emitter::charge_exchange(const parallel::ExchangePlan& plan) {
  if (!hw::is_cpu(*context_.device)) return copy_gradients(plan.gradient_copies);
  const double slower = cost::cpu_call_factor(*context_.device);
  for (const graph::ParameterGradient& gradient : step_.gradients) {
    const Seconds bytes{plan.per_gradient_byte_s * bound_.bytes(gradient.gradient)};
    worker_.ops[static_cast<std::size_t>(gradient.ready)].total +=
        slower * (plan.per_gradient + bytes);
  }
}

// Operators that read and write each gradient once, issued as an optimizer's are.
void Emitter::copy_gradients(double operators) {
  const Seconds launch{1e-6 * context_.model->constants.host.update *
                       context_.framework->host_scale};
  for (const graph::ParameterGradient& gradient : step_.gradients) {
    const auto n = static_cast<std::size_t>(gradient.ready);
    const Seconds kernel{2 * bound_.bytes(gradient.gradient) / context_.memory_bytes_per_s +
                         context_.launch_s};
    worker_.ops[n].total += slowest_ * operators * kernel;
    copying_host_[n] += operators * launch;
  }
}

void Emitter::emit(graph::NodeId node, double times, const std::vector<sim::TaskId>& after) {
  const auto n = static_cast<std::size_t>(node);
  const graph::NodeView view{bound_, bound_.graph->nodes[n]};
  waiting_host_ += times * host_scale_ * (cost::host_time(view, context_) + copying_host_[n]);
  const cost::OpTime& op = worker_.ops[n];
  if (op.kernels == 0) return;
  kernel_after_.insert(kernel_after_.end(), after.begin(), after.end());
  const int parts = cost::launch_parts(view.node, op.kernels, *context_.framework);
  const Seconds host = waiting_host_ / parts;
  const Seconds kernel = times * op.total / parts;
  waiting_host_ = Seconds{0};
  for (int part = 0; part < parts; ++part) issue(node, host, kernel);
}

// A host task and the kernel that it launches.
void Emitter::issue(std::int32_t tag, Seconds host, Seconds kernel) {
  kernel_after_.push_back(
      sim::add_task(program_.program, {worker_.host, host, kHostTask, tag}, host_after_));
  host_after_.clear();
  previous_ =
      sim::add_task(program_.program, {worker_.stream, kernel, kKernelTask, tag}, kernel_after_);
  kernel_after_.clear();
}

void Emitter::host_waits(sim::TaskId task) {
  host_after_.push_back(task);
  host_waits();
}

void Emitter::host_waits() {
  if (previous_) host_after_.push_back(*previous_);
}

}  // namespace foretrain::operators

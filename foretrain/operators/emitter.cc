// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/emitter.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "foretrain/base/normal.h"
#include "foretrain/parallel/experts.h"

namespace foretrain::operators {
namespace {

// How much longer the slowest of all workers (the straggler) needs than one of them on average.
// What varies evens out over several passes.
double straggling(const Resolved& resolved) {
  if (!parallel::waits_for_straggler(resolved)) return 1;
  const double spread = resolved.variation / std::sqrt(static_cast<double>(resolved.passes));
  return 1 + spread * expected_largest(resolved.workers);
}

// What a convolution's FLOPs count in a step of fp32, where frameworks compute it in TF32: by the
// ratio of the peaks, so that no share of a peak exceeds one.
double tf32_share(const hw::Device& device, const Resolved& resolved) {
  const bool wide = resolved.precision == Precision::Fp32 && resolved.framework->tf32_convolutions;
  const double tf32 = device.tensor_tf32_flops_per_s.value_or(0);
  if (!wide || tf32 <= 0) return 1;
  return hw::matrix_peak(device, Precision::Fp32).value_or(tf32) / tf32;
}

}  // namespace

Emitter::Emitter(const Step& step, const graph::Bound& bound, const Resolved& resolved,
                 std::int64_t passes, StepProgram& program, WorkerClass& worker)
    : step_(step),
      bound_(bound),
      slowest_(straggling(resolved)),
      host_scale_(slowest_ / resolved.host_speed),
      blocking_(resolved.framework->blocking_launches),
      wake_up_{blocking_ ? resolved.framework->blocking_launch_s : 0},
      program_(program),
      worker_(worker),
      timer_(resolved.cluster.devices[static_cast<std::size_t>(worker.device)], *resolved.framework,
             resolved.precision, resolved.operators),
      copying_host_(bound.graph->nodes.size(), Seconds{0}) {
  worker_.host = sim::add_resource(program.program);
  worker_.stream = sim::add_resource(program.program);
  time_nodes(resolved);
  const double calls = static_cast<double>(passes) * resolved.framework->call_s;
  waiting_host_ = Seconds{host_scale_ * calls};
}

void Emitter::time_nodes(const Resolved& resolved) {
  const cost::Straggling& straggling = *resolved.straggling;
  const double crowded =
      slowest_ * (1 + straggling.shared_node_slowdown * (worker_.devices_on_node - 1));
  const std::vector<graph::Node>& nodes = bound_.graph->nodes;
  worker_.ops.reserve(nodes.size());
  program_.gemm_flops = 0;
  const double tf32 = tf32_share(timer_.device(), resolved);
  const double imbalance = resolved.strategy.expert > 1 ? resolved.strategy.expert_imbalance : 1;
  const std::set<std::string> uneven =
      imbalance > 1 ? parallel::expert_scopes(*bound_.graph) : std::set<std::string>();
  for (const graph::Node& node : nodes) {
    if (graph::is_communication(node)) {
      worker_.ops.emplace_back();
      continue;
    }
    const graph::NodeView view{bound_, node};
    const graph::Work work = graph::work(view);
    worker_.ops.push_back(timer_.time(view, work));
    if (node.phase == graph::Phase::Recompute) continue;  // the model's own count once
    const bool convolution = graph::op(node).family == graph::Family::Convolution;
    const double busiest = uneven.contains(node.scope) ? imbalance : 1;  // over the mean rank
    program_.gemm_flops += work.flops * (convolution ? tf32 : 1) / busiest;
  }
  timer_.share_power(worker_.ops);
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
  if (!hw::is_cpu(timer_.device())) return copy_gradients(plan.gradient_copies);
  const double slower = timer_.cpu_call_factor();
  for (const graph::ParameterGradient& gradient : step_.gradients) {
    const Seconds bytes{plan.per_gradient_byte_s * bound_.bytes(gradient.gradient)};
    worker_.ops[static_cast<std::size_t>(gradient.ready)].total +=
        slower * (plan.per_gradient + bytes);
  }
}

// Operators that read and write each gradient once, issued as an optimizer's are.
void Emitter::copy_gradients(double operators) {
  const Seconds launch = timer_.copy_host_time();
  for (const graph::ParameterGradient& gradient : step_.gradients) {
    const auto n = static_cast<std::size_t>(gradient.ready);
    const Seconds kernel = timer_.copy_time(bound_.bytes(gradient.gradient));
    worker_.ops[n].total += slowest_ * operators * kernel;
    copying_host_[n] += operators * launch;
  }
}

void Emitter::emit(graph::NodeId node, double times, const std::vector<sim::TaskId>& after) {
  const auto n = static_cast<std::size_t>(node);
  const graph::NodeView view{bound_, bound_.graph->nodes[n]};
  waiting_host_ += times * host_scale_ * (timer_.host_time(view) + copying_host_[n]);
  const cost::OpTime& op = worker_.ops[n];
  if (op.kernels == 0) return;
  kernel_after_.insert(kernel_after_.end(), after.begin(), after.end());
  const int parts = timer_.launch_parts(view.node, op.kernels);
  const Seconds host = waiting_host_ / parts;
  const Seconds kernel = times * op.total / parts;
  waiting_host_ = Seconds{0};
  for (int part = 0; part < parts; ++part) issue(node, host, kernel);
  waiting_host_ += times * op.kernels * wake_up_;
}

// A host task and the kernel that it launches.
void Emitter::issue(std::int32_t tag, Seconds host, Seconds kernel) {
  kernel_after_.push_back(
      sim::add_task(program_.program, {worker_.host, host, kHostTask, tag}, host_after_));
  host_after_.clear();
  previous_ =
      sim::add_task(program_.program, {worker_.stream, kernel, kKernelTask, tag}, kernel_after_);
  kernel_after_.clear();
  if (blocking_) host_waits();
}

void Emitter::device_waits(sim::TaskId task, double times) {
  kernel_after_.push_back(task);
  if (!blocking_) return;
  host_after_.push_back(task);
  waiting_host_ += times * wake_up_;
}

sim::TaskId Emitter::issue_exchange(graph::NodeId node, Seconds time) {
  const Seconds host = waiting_host_ + host_scale_ * time;
  waiting_host_ = Seconds{0};
  const sim::TaskId task =
      sim::add_task(program_.program, {worker_.host, host, kHostTask, node}, host_after_);
  host_after_.clear();
  return task;
}

Seconds Emitter::host_update_time(graph::NodeId node, double bytes_per_s) const {
  graph::Node update = bound_.graph->nodes[static_cast<std::size_t>(node)];
  update.kind = graph::Kind::Update;
  const graph::NodeView view{bound_, update};
  return host_scale_ * timer_.host_time(view) + Seconds{timer_.update_bytes(view) / bytes_per_s};
}

void Emitter::host_waits(sim::TaskId task) {
  host_after_.push_back(task);
  host_waits();
}

void Emitter::host_waits() {
  if (previous_) host_after_.push_back(*previous_);
}

}  // namespace foretrain::operators

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "foretrain/graph/offload.h"
#include "foretrain/graph/op.h"
#include "foretrain/operators/detail/emitter.h"
#include "foretrain/operators/stages.h"

namespace foretrain::operators {
namespace {

std::vector<WorkerClass> worker_classes(const hw::Cluster& cluster) {
  std::vector<WorkerClass> classes;
  for (const hw::Node& node : cluster.nodes) {
    const bool apart = cluster.links[static_cast<std::size_t>(node.intra_node)].peer_access;
    const int disturbing = apart ? 1 : node.devices;
    auto found = std::find_if(classes.begin(), classes.end(), [&](const WorkerClass& c) {
      return c.device == node.device && c.devices_on_node == disturbing;
    });
    if (found == classes.end()) {
      WorkerClass fresh;
      fresh.device = node.device;
      fresh.devices_on_node = disturbing;
      found = classes.insert(classes.end(), fresh);
    }
    found->workers += node.devices;
  }
  return classes;
}

bool runs_in_every_pass(const graph::Node& node) {
  return node.attributes.number(graph::Attr::EveryPass, 0) != 0;
}

// Transfers between stages are tasks of the pipeline, not of a stage.
bool is_exchange(const graph::Node& node) {
  return graph::is_communication(node) && !graph::is_transfer(node);
}

// Gradients are zeroed, and parameters fetched, once, before the first pass.
std::size_t first_of_pass(const graph::Graph& step) {
  std::size_t n = 0;
  while (n < step.nodes.size() && !runs_in_every_pass(step.nodes[n]) &&
         (graph::is_communication(step.nodes[n]) || step.nodes[n].kind == graph::Kind::ZeroGrad)) {
    ++n;
  }
  return n;
}

std::size_t first_update(const graph::Graph& step) {
  const auto found =
      std::find_if(step.nodes.begin(), step.nodes.end(), [](const graph::Node& node) {
        return node.kind == graph::Kind::Update || graph::is_host_update(node);
      });
  return static_cast<std::size_t>(found - step.nodes.begin());
}

double input_bytes(const graph::Bound& bound) {
  double bytes = 0;
  for (std::size_t i = 0; i < bound.graph->tensors.size(); ++i) {
    const bool input = bound.graph->tensors[i].role == graph::Role::Input;
    if (input) bytes += bound.bytes(static_cast<graph::TensorId>(i));
  }
  return bytes;
}

// Lowers the nodes of all worker classes side by side, so that a collective finds the kernels of
// all of them before it.
class Lowering {
 public:
  Lowering(const Step& step, const graph::Bound& bound, const Resolved& resolved,
           std::int64_t passes, bool reads_batch)
      : step_(step.graph),
        bound_(bound),
        resolved_(resolved),
        passes_(passes),
        reads_batch_(reads_batch) {
    program_.classes = worker_classes(resolved.cluster);
    const std::size_t tasks = 2 * step_.nodes.size() * program_.classes.size() + 64;
    program_.program.tasks.reserve(tasks);
    program_.program.after.reserve(tasks);
    program_.program.first_after.reserve(tasks + 1);
    plan_ = parallel::plan_exchange(bound, resolved);
    network_ = sim::add_resource(program_.program);
    server_ = sim::add_resource(program_.program);
    exchanged_.assign(step_.tensors.size(), kNever);
    exchange_of_.assign(step_.nodes.size(), 0);
    std::size_t next = 0;
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      if (is_exchange(step_.nodes[n])) exchange_of_[n] = next++;
      if (graph::is_activation_exchange(step_.nodes[n]) && is_exchange(step_.nodes[n]) &&
          !activations_) {
        activations_ = sim::add_resource(program_.program);
      }
    }
    emitters_.reserve(program_.classes.size());
    for (WorkerClass& worker : program_.classes) {
      emitters_.emplace_back(step, bound, resolved, passes, program_, worker);
      slow_down(worker);
    }
  }

  StepProgram run() {
    const std::size_t begin = first_of_pass(step_);
    const std::size_t update = first_update(step_);
    add_input();
    emit(0, begin);
    if (passes_ > 1) {  // those before the last, as one pass that takes their time
      emit_earlier_passes(begin, update, static_cast<double>(passes_ - 1));
    }
    for (Emitter& emitter : emitters_) emitter.charge_exchange(plan_);  // of the last pass alone
    emit(begin, update);
    if (resolved_.framework->waits_for_device) host_waits();
    emit(update, step_.nodes.size());
    add_saturation();
    program_.gemm_flops *= static_cast<double>(passes_);
    program_.assumptions = plan_.assumptions;
    return std::move(program_);
  }

 private:
  static constexpr sim::TaskId kNever = -1;

  // A copy from pageable memory runs while the device is idle; reading and preparing the next batch
  // runs beside the step, which does not end before, unless the training process itself does it.
  void add_input() {
    if (resolved_.copy_rate) {
      const Seconds copy =
          static_cast<double>(passes_) * Seconds{input_bytes(bound_) / *resolved_.copy_rate};
      for (Emitter& emitter : emitters_) emitter.copy_input(copy);
    }
    if (resolved_.input_rate && reads_batch_) {
      const Seconds prepared{static_cast<double>(resolved_.batch) / *resolved_.input_rate};
      if (!resolved_.waits_for_input) return add_beside(prepared, kInputTask);
      for (Emitter& emitter : emitters_) emitter.copy_input(prepared);
    }
  }

  // Asynchronous workers take turns at the servers: none steps faster than these serve all.
  void add_saturation() {
    if (plan_.servers_busy > Seconds{0}) add_beside(plan_.servers_busy, kSaturationTask);
  }

  void add_beside(Seconds time, TaskKind kind) {
    const sim::ResourceId own = sim::add_resource(program_.program);
    sim::add_task(program_.program, {own, time, kind, 0}, {});
  }

  void emit(std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const graph::Node& node = step_.nodes[n];
      const auto id = static_cast<graph::NodeId>(n);
      if (graph::is_communication(node)) {
        if (is_exchange(node)) exchange(id, node, 1);
        continue;
      }
      const std::vector<sim::TaskId> after = exchanges_before(node);
      for (Emitter& emitter : emitters_) emitter.emit(id, 1, after);
    }
  }

  // Collectives take a part of a GPU from kernels.
  void slow_down(const WorkerClass& worker) {
    const hw::Device& device = resolved_.cluster.devices[static_cast<std::size_t>(worker.device)];
    if (hw::is_cpu(device)) return;
    std::vector<sim::Slowdown>& slowdowns = program_.program.slowdowns;
    if (plan_.kernel_slowdown > 0) {
      slowdowns.push_back({worker.stream, network_, 1 - plan_.kernel_slowdown});
    }
  }

  // Those before the last exchange only what has to be exchanged in every pass.
  void emit_earlier_passes(std::size_t first, std::size_t last, double times) {
    for (std::size_t n = first; n < last; ++n) {
      const graph::Node& node = step_.nodes[n];
      const auto id = static_cast<graph::NodeId>(n);
      if (graph::is_communication(node)) {
        if (is_exchange(node) && runs_in_every_pass(node)) exchange(id, node, times);
        continue;
      }
      const std::vector<sim::TaskId> after = exchanges_before(node);
      for (Emitter& emitter : emitters_) emitter.emit(id, times, after);
    }
  }

  // The last exchange of a tensor that the node reads: resources serve exchanges in order.
  std::vector<sim::TaskId> exchanges_before(const graph::Node& node) const {
    if (last_exchange_ == kNever) return {};
    sim::TaskId last = kNever;
    for (const graph::TensorId id : node.inputs) {
      last = std::max(last, exchanged_[static_cast<std::size_t>(id)]);
    }
    if (last == kNever) return {};
    return {last};
  }

  // A collective waits for the kernels of all workers that came before it; a server's update for
  // the push of its gradients.
  void exchange(graph::NodeId id, const graph::Node& node, double times) {
    const parallel::Exchange& cost = plan_.exchanges[exchange_of_[static_cast<std::size_t>(id)]];
    if (graph::is_offload(node)) return offload(id, node, times * cost.time);
    const bool on_server = graph::op(node).family == graph::Family::Server;
    std::vector<sim::TaskId> after;
    if (on_server) {
      after = exchanges_before(node);
    } else {
      for (Emitter& emitter : emitters_) {
        if (const auto kernel = emitter.last_kernel()) after.push_back(*kernel);
        if (cost.host > Seconds{0}) after.push_back(emitter.issue_exchange(id, times * cost.host));
      }
    }
    const sim::ResourceId links = graph::is_activation_exchange(node) ? *activations_ : network_;
    if (copied_in_ != kNever) after.push_back(copied_in_);  // parameters, to be handed on
    const sim::TaskId task = sim::add_task(program_.program,
                                           {on_server ? server_ : links, times * cost.time,
                                            on_server ? kServerTask : kCommunicationTask, id},
                                           after);
    if (!on_server) program_.transfers.push_back({task, parallel::scaled(cost.traffic, times)});
    last_exchange_ = task;
    hold_back(node, task, times);
  }

  // A copy to or from the host, or an update there, on a resource of its own. Whoever reads what
  // comes back waits for it. Of activations one copy is on its way while the next is issued: the
  // device waits for the one before, whose memory is given back.
  void offload(graph::NodeId id, const graph::Node& node, Seconds copying) {
    std::vector<sim::TaskId> after = exchanges_before(node);
    for (const Emitter& emitter : emitters_) {
      if (const auto kernel = emitter.last_kernel()) after.push_back(*kernel);
    }
    if (graph::is_host_update(node)) {
      if (copied_out_ != kNever) after.push_back(copied_out_);  // all gradients are there
      Seconds time{0};
      for (const Emitter& emitter : emitters_) {
        time = std::max(time, emitter.host_update_time(id, plan_.host_bytes_per_s));
      }
      const sim::TaskId task = add_on(host_update_, {0, time, kHostUpdateTask, id}, after);
      for (const graph::TensorId input : node.inputs) {
        exchanged_[static_cast<std::size_t>(input)] = task;
      }
      last_exchange_ = task;
      return;
    }
    const bool out = graph::is_copy_out(node);
    const sim::TaskId task =
        add_on(out ? copy_out_ : copy_in_, {0, copying, kCommunicationTask, id}, after);
    const bool activation = !node.outputs.empty();
    if (out && activation && copied_out_ != kNever) {
      for (Emitter& emitter : emitters_) emitter.device_waits(copied_out_);
    }
    for (const graph::TensorId output : node.outputs) {
      exchanged_[static_cast<std::size_t>(output)] = task;
    }
    last_exchange_ = task;
    if (out) copied_out_ = task;
    if (!out && !activation) copied_in_ = task;
  }

  // A task on a resource that is made when it is needed.
  sim::TaskId add_on(std::optional<sim::ResourceId>& resource, sim::Task task,
                     const std::vector<sim::TaskId>& after) {
    if (!resource) resource = sim::add_resource(program_.program);
    task.resource = *resource;
    return sim::add_task(program_.program, task, after);
  }

  // Makes those wait for the exchange who have to.
  void hold_back(const graph::Node& node, sim::TaskId task, double times) {
    const auto waiting =
        static_cast<graph::Waiting>(node.attributes.number(graph::Attr::Waiting, 0));
    if (waiting == graph::Waiting::Readers) {
      // What goes around a ring is read where it is meanwhile.
      const bool kept = node.kind == graph::Kind::CollectivePermute;
      for (const graph::TensorId id : kept ? std::vector<graph::TensorId>{} : node.inputs) {
        exchanged_[static_cast<std::size_t>(id)] = task;
      }
      for (const graph::TensorId id : node.outputs) exchanged_[static_cast<std::size_t>(id)] = task;
      return;
    }
    for (Emitter& emitter : emitters_) {
      if (waiting == graph::Waiting::Host) emitter.host_waits(task);
      emitter.device_waits(task, times);
    }
  }

  void host_waits() {
    for (Emitter& emitter : emitters_) {
      if (last_exchange_ != kNever) {
        emitter.host_waits(last_exchange_);
      } else {
        emitter.host_waits();
      }
    }
  }

  const graph::Graph& step_;
  const graph::Bound& bound_;
  const Resolved& resolved_;
  std::int64_t passes_;
  bool reads_batch_;
  StepProgram program_;
  parallel::ExchangePlan plan_;
  sim::ResourceId network_ = 0;
  sim::ResourceId server_ = 0;
  std::optional<sim::ResourceId> activations_;  // links of what the model's passes exchange
  std::optional<sim::ResourceId> copy_out_;     // from a device to its host
  std::optional<sim::ResourceId> copy_in_;      // and back
  std::optional<sim::ResourceId> host_update_;  // the host's processors
  sim::TaskId copied_out_ = kNever;             // the last copy of that kind,
  sim::TaskId copied_in_ = kNever;              // and of parameters
  std::vector<Emitter> emitters_;
  std::vector<std::size_t> exchange_of_;  // of each communication node: its place in the plan
  sim::TaskId last_exchange_ = kNever;
  std::vector<sim::TaskId> exchanged_;  // of each tensor: the task of its last exchange
};

}  // namespace

StepProgram lower(const Step& step, const graph::Bound& bound, const Resolved& resolved) {
  return Lowering(step, bound, resolved, resolved.passes, true).run();
}

StepProgram lower_passes(const Step& step, const graph::Bound& bound, const Resolved& resolved,
                         std::int64_t passes) {
  return Lowering(step, bound, resolved, passes, false).run();
}

}  // namespace foretrain::operators

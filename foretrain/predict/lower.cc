// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "foretrain/base/normal.h"
#include "foretrain/cost/cpu.h"
#include "foretrain/cost/update.h"
#include "foretrain/predict/communicate.h"
#include "foretrain/predict/job.h"

namespace foretrain {
namespace {

// Devices that share a host without reaching each other's memory slow one another down.
// Source: fit on 1 to 4 T4 per cloud node (Pollux data), docs/models.md.
constexpr double kSharedNodeSlowdown = 0.03;

// How much longer the slowest of all workers needs than one of them on average: an exchange of
// gradients waits for it. What varies evens out over several passes. nn.DataParallel's own
// constants hold it.
double slowest_of_all(const Setting& setting, const Request& request) {
  const Strategy& strategy = request.strategy;
  const bool waits = request.mode == Mode::Train && !strategy.asynchronous &&
                     strategy.kind != Parallel::DataParallel;
  if (!waits) return 1;
  const double spread = setting.variation / std::sqrt(static_cast<double>(setting.passes));
  return 1 + spread * expected_largest(setting.workers);
}

std::vector<WorkerClass> worker_classes(const hw::Cluster& cluster) {
  std::vector<WorkerClass> classes;
  for (const hw::Node& node : cluster.nodes) {
    const bool apart = cluster.links[static_cast<std::size_t>(node.intra_node)].peer_access;
    const int company = apart ? 1 : node.devices;
    auto found = std::find_if(classes.begin(), classes.end(), [&](const WorkerClass& c) {
      return c.device == node.device && c.devices_on_node == company;
    });
    if (found == classes.end()) {
      WorkerClass fresh;
      fresh.device = node.device;
      fresh.devices_on_node = company;
      found = classes.insert(classes.end(), fresh);
    }
    found->workers += node.devices;
  }
  return classes;
}

// Emits one worker's nodes: a host task issues each kernel, the stream runs them in order.
class Emitter {
 public:
  Emitter(const graph::Bound& bound, const Setting& setting, const Request& request, Job& job,
          WorkerClass& worker, const Library& library)
      : bound_(bound),
        slowest_(slowest_of_all(setting, request)),
        host_scale_(slowest_ / setting.host_speed),
        job_(job),
        worker_(worker) {
    const hw::Device& device = setting.cluster.devices[static_cast<std::size_t>(worker.device)];
    context_ = cost::context_for(device, *setting.framework, request.precision, *setting.operators);
    worker_.host = sim::add_resource(job.program, sim::Service::InOrder);
    worker_.stream = sim::add_resource(job.program, sim::Service::InOrder);
    measure(library);
    last_kernel_.assign(bound.graph->nodes.size(), -1);
    copying_host_.assign(bound.graph->nodes.size(), Seconds{0});
    const double calls = static_cast<double>(setting.passes) * setting.framework->call_s;
    waiting_host_ = Seconds{host_scale_ * calls};
  }

  // A CPU exchanges gradients itself, when they are ready; a GPU copies them to and from buckets.
  void exchange_on_device(const Step& step, const Communication& plan) {
    if (!hw::is_cpu(*context_.device)) return copy_gradients(step, plan.gradient_copies);
    const double slower = cost::cpu_call_factor(*context_.device);
    for (const graph::ParameterGradient& gradient : step.gradients) {
      const Seconds bytes{plan.per_gradient_byte_s * bound_.bytes(gradient.gradient)};
      worker_.ops[static_cast<std::size_t>(gradient.ready)].total +=
          slower * (plan.per_gradient + bytes);
    }
  }

  // Emits the nodes [first, last), each as long as it takes `times`; the first kernel also waits
  // for `after`.
  void emit(std::size_t first, std::size_t last, std::vector<sim::TaskId> after, double times = 1) {
    for (std::size_t n = first; n < last; ++n) {
      const graph::NodeView view{bound_, bound_.graph->nodes[n]};
      waiting_host_ += times * host_scale_ * (cost::host_time(view, context_) + copying_host_[n]);
      const int parts = cost::launch_parts(view.node, worker_.ops[n].kernels, *context_.framework);
      const Seconds host = waiting_host_ / parts;
      const Seconds kernel = times * worker_.ops[n].total / parts;
      if (worker_.ops[n].kernels > 0) {
        waiting_host_ = Seconds{0};
        for (int part = 0; part < parts; ++part) {
          issue(static_cast<std::int32_t>(n), host, kernel, after);
        }
      }
      last_kernel_[n] = previous_;
    }
  }

  // The host goes on when the device and the tasks `others` are done.
  void wait(const std::vector<sim::TaskId>& others) {
    host_after_ = others;
    if (previous_ >= 0) host_after_.push_back(previous_);
  }

  // The kernel that ends node n's work, or the last one before it.
  sim::TaskId kernel_of(graph::NodeId n) const {
    return std::max(last_kernel_[static_cast<std::size_t>(n)], 0);
  }

 private:
  // A host task and the kernel that it launches, which also waits for `after`; clears that.
  void issue(std::int32_t tag, Seconds host, Seconds kernel, std::vector<sim::TaskId>& after) {
    after.push_back(sim::add_task(job_.program, {worker_.host, host, kHostTask, tag}, host_after_));
    host_after_.clear();
    previous_ = sim::add_task(job_.program, {worker_.stream, kernel, kKernelTask, tag}, after);
    after.clear();
  }

  // Operators that read and write each gradient once, issued as an optimizer's are.
  void copy_gradients(const Step& step, double operators) {
    const Seconds launch{1e-6 * context_.model->constants.host.update *
                         context_.framework->host_scale};
    for (const graph::ParameterGradient& gradient : step.gradients) {
      const auto n = static_cast<std::size_t>(gradient.ready);
      const Seconds kernel{2 * bound_.bytes(gradient.gradient) / context_.memory_bytes_per_s +
                           context_.launch_s};
      worker_.ops[n].total += slowest_ * operators * kernel;
      copying_host_[n] += operators * launch;
    }
  }

  void measure(const Library& library) {
    const double company = slowest_ * (1 + kSharedNodeSlowdown * (worker_.devices_on_node - 1));
    worker_.ops.reserve(bound_.graph->nodes.size());
    job_.product_flops = 0;
    for (const graph::Node& node : bound_.graph->nodes) {
      const graph::NodeView view{bound_, node};
      const graph::Work work = graph::work(view);
      worker_.ops.push_back(library.op_timer(view, work, context_));
      job_.product_flops += work.flops;
    }
    cost::share_power(worker_.ops, context_);
    Seconds opaque{0};
    Seconds all{0};
    for (std::size_t n = 0; n < worker_.ops.size(); ++n) {
      Seconds& total = worker_.ops[n].total;
      total *= company;
      all += total;
      if (bound_.graph->nodes[n].kind == graph::Kind::Opaque) opaque += total;
    }
    if (all.count() > 0) job_.opaque_share = std::max(job_.opaque_share, opaque / all);
  }

  const graph::Bound& bound_;
  double slowest_;     // the slowest worker's time over the mean one's
  double host_scale_;  // host time here over that of the reference machine
  Job& job_;
  WorkerClass& worker_;
  cost::Context context_;
  Seconds waiting_host_{0};
  std::vector<Seconds> copying_host_;    // what the host adds to each node to copy gradients
  std::vector<sim::TaskId> host_after_;  // what the host's next task waits for
  sim::TaskId previous_ = -1;
  std::vector<sim::TaskId> last_kernel_;
};

std::size_t first_update(const graph::Graph& step) {
  std::size_t n = step.nodes.size();
  while (n > 0 && step.nodes[n - 1].kind == graph::Kind::Update) --n;
  return n;
}

// Gradients are zeroed once, before the first pass.
std::size_t first_forward(const graph::Graph& step) {
  return !step.nodes.empty() && step.nodes.front().kind == graph::Kind::ZeroGrad ? 1 : 0;
}

}  // namespace

std::vector<Bucket> make_buckets(const Step& step, const graph::Bound& bound, double first_bytes,
                                 double bytes) {
  std::vector<Bucket> buckets;
  double limit = first_bytes;
  Bucket open;
  for (const graph::ParameterGradient& gradient : step.gradients) {
    open.bytes += bound.bytes(gradient.gradient);
    open.ready = gradient.ready;
    if (open.bytes >= limit) {
      buckets.push_back(open);
      open = Bucket{};
      limit = bytes;
    }
  }
  if (open.bytes > 0) buckets.push_back(open);
  return buckets;
}

Job lower(const Step& step, const graph::Bound& bound, const Setting& setting,
          const Request& request, const Library& library) {
  Job job;
  job.classes = worker_classes(setting.cluster);
  const std::size_t nodes = step.graph.nodes.size();
  job.program.tasks.reserve(2 * nodes * job.classes.size() + 64);
  const Communication communication = plan_communication(step, bound, setting, request);

  const Entry entry = before_step(communication, job);
  std::vector<Emitter> emitters;
  emitters.reserve(job.classes.size());
  const std::size_t begin = first_forward(step.graph);
  const std::size_t update = first_update(step.graph);
  for (WorkerClass& worker : job.classes) {
    emitters.emplace_back(bound, setting, request, job, worker, library);
    if (communication.host_enters) emitters.back().wait(entry.after);
    emitters.back().emit(0, begin, entry.after);
    if (setting.passes > 1) {  // those before the last, as one pass that takes their time
      emitters.back().emit(begin, update, {}, static_cast<double>(setting.passes - 1));
    }
    emitters.back().exchange_on_device(step, communication);  // of the last pass alone
    emitters.back().emit(begin, update, begin == 0 ? entry.after : std::vector<sim::TaskId>{});
  }
  std::vector<std::vector<sim::TaskId>> ready(communication.buckets.size());
  for (std::size_t b = 0; b < ready.size(); ++b) {
    for (const Emitter& emitter : emitters) {
      ready[b].push_back(emitter.kernel_of(communication.buckets[b].ready));
    }
  }
  const std::vector<sim::TaskId> gathered = exchange_gradients(communication, entry, ready, job);
  for (Emitter& emitter : emitters) {
    if (setting.framework->waits_for_device) emitter.wait(gathered);
    emitter.emit(update, nodes, gathered);
  }
  job.product_flops *= static_cast<double>(setting.passes);
  job.floor = communication.floor;
  job.assumptions = communication.assumptions;
  return job;
}

}  // namespace foretrain

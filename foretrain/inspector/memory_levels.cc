// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/detail/memory_levels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "foretrain/graph/op.h"
#include "foretrain/inspector/detail/recurrent_traffic.h"
#include "foretrain/inspector/replay_constants.h"
#include "foretrain/inspector/traffic.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

using graph::Kind;
using operators::Stages;
using resource::Level;

// What takes no time worth the name, such as a call that only tells others what to do, is counted
// there: shorter than any window.
constexpr Seconds kAtOnce{1e-4};
constexpr double kSeenStep = 1e-3;  // s: shorter time steps look alike in windows of 2 ms

bool is_recurrent(const graph::Node& node) {
  return node.kind == Kind::Recurrent || node.kind == Kind::RecurrentGrad;
}

// A kernel of the worker, or an exchange that the worker begins, in the order of the program.
struct Event {
  std::size_t node = 0;
  sim::Span span{};
  bool exchange = false;
};

std::vector<Event> events_of(const Stages& stages) {
  const operators::WorkerClass& worker = operators::slowest_class(stages);
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  std::vector<Event> events;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const bool exchange = tasks[t].kind == operators::kCommunicationTask;
    const bool kernel =
        tasks[t].kind == operators::kKernelTask && tasks[t].resource == worker.stream;
    if (!exchange && !kernel) continue;
    events.push_back({static_cast<std::size_t>(tasks[t].tag), stages.timeline.spans[t], exchange});
  }
  return events;
}

// A share of a core runs at the core's full speed for that share of each period and stands still
// for the rest of it: docs/collect.md, "Hosts".
constexpr double kPeriod = 0.01;  // s

std::vector<Level> throttled(const std::vector<Level>& levels, double share) {
  std::vector<Level> result;
  const double running = share * kPeriod;
  for (const Level& level : levels) {
    double begin = share * level.start.count();  // of the core's own time
    const double end = share * level.end.count();
    while (begin < end) {
      const double period = std::floor(begin / running + 1e-9);
      const double next = std::min(end, (period + 1) * running);
      const double start = period * kPeriod + (begin - period * running);
      result.push_back({Seconds{start}, Seconds{start + next - begin}, level.amount});
      begin = next;
    }
  }
  return result;
}

// 1 for whole cores and other devices.
double core_share(const hw::Device& device) {
  constexpr std::string_view kCores = "cpu:cores=";
  if (!device.name.starts_with(kCores)) return 1;
  return std::clamp(std::strtod(device.name.c_str() + kCores.size(), nullptr), 0.01, 1.0);
}

class Activity {
 public:
  Activity(const Stages& stages, const Resolved& resolved)
      : stages_(stages),
        device_(operators::slowest_device(stages, resolved)),
        optimizer_(resolved.optimizer),
        events_(events_of(stages)),
        moved_(moved_bytes(stages.bound, resolved.optimizer, device_)) {}

  std::vector<Level> levels() {
    add_operators();
    add_update(hw::is_cpu(device_) ? add_exchange() : Seconds{0});
    const double share = core_share(device_);
    return share < 1 ? throttled(levels_, share) : std::move(levels_);
  }

 private:
  const graph::Node& node_of(const Event& event) const {
    return stages_.step->graph.nodes[event.node];
  }
  double bandwidth() const { return std::max(1.0, device_.memory_bytes_per_s); }

  void add(Seconds begin, Seconds end, double bytes) {
    if (end <= begin || bytes <= 0) return;
    levels_.push_back({begin, end, 100 * bytes / bandwidth() / (end - begin).count()});
  }

  // The part of a node's time in which its own operator runs; in the rest the hooks behind it put
  // its gradient into a bucket, unobserved.
  double own_share(std::size_t node) const {
    const cost::OpTime& op = operators::slowest_class(stages_).ops[node];
    if (!hw::is_cpu(device_) || op.total <= Seconds{0}) return 1;
    return std::min(1.0, (op.compute + op.memory) / op.total);
  }
  Seconds own_time(const Event& event) const {
    return own_share(event.node) * (event.span.end - event.span.start);
  }

  // An operator's bytes are spread over all of its kernels.
  void add_operators() {
    std::vector<double> bytes(moved_.size(), 0);
    std::vector<Seconds> time(moved_.size(), Seconds{0});
    std::vector<bool> seen(moved_.size(), false);
    for (const Event& event : events_) {
      const Moved& one = moved_[event.node];
      const auto whole = static_cast<std::size_t>(one.together);
      time[whole] += own_time(event);
      if (!seen[event.node]) bytes[whole] += one.bytes;
      seen[event.node] = true;
    }
    for (const Event& event : events_) {
      if (event.exchange || node_of(event).kind == Kind::Update) continue;
      if (is_recurrent(node_of(event)) && hw::is_cpu(device_)) {
        add_recurrent(event);
        continue;
      }
      const auto whole = static_cast<std::size_t>(moved_[event.node].together);
      if (time[whole] > Seconds{0}) add_operator(event, bytes[whole] / time[whole].count());
    }
  }

  void add_operator(const Event& event, double bytes_per_s) {
    const Moved& one = moved_[event.node];
    const Seconds length = own_time(event);
    const Seconds end = event.span.start + length;
    const Seconds fast =
        std::min(known_.speed_share * length, Seconds{one.bytes_at_speed / bandwidth()});
    add(event.span.start, end - fast, bytes_per_s * length.count());
    add(end - fast, end, one.bytes_at_speed);
    add(end, end + kAtOnce, one.bytes_at_end);
  }

  // What is of whole sequences needs what its arithmetic and bytes do; what is left is for the time
  // steps, by theirs.
  void add_recurrent(const Event& event) {
    const std::vector<RecurrentPart> parts = recurrent_parts(stages_.bound, node_of(event));
    const double length = own_time(event).count();
    double of_gemms = 0;
    double of_steps = 0;
    for (const RecurrentPart& part : parts) (part.steps ? of_steps : of_gemms) += needs(part);
    const double gemms = std::min(1.0, known_.sequence_share * length / std::max(of_gemms, 1e-12));
    const double steps = (length - gemms * of_gemms) / std::max(of_steps, 1e-12);
    Seconds begin = event.span.start;
    for (const RecurrentPart& part : parts) {
      begin = add_part(part, begin, Seconds{(part.steps ? steps : gemms) * needs(part)});
    }
  }

  double needs(const RecurrentPart& part) const {
    const double peak = std::max(1.0, device_.fp32_flops_per_s);
    return part.flops / peak + (part.bytes + part.pointwise_bytes) / bandwidth();
  }

  // Time steps that windows tell apart show their GEMMs and what follows these. Returns the end.
  Seconds add_part(const RecurrentPart& part, Seconds begin, Seconds length) {
    const Seconds each = length / part.times;
    if (each.count() < kSeenStep || part.times <= 1) {
      add(begin, begin + length, part.bytes + part.pointwise_bytes);
      return begin + length;
    }
    const double pointwise = part.pointwise_bytes / bandwidth() / std::max(needs(part), 1e-12);
    for (double i = 0; i < part.times; ++i) {
      const Seconds start = begin + i * each;
      const Seconds middle = start + (1 - pointwise) * each;
      add(start, middle, part.bytes / part.times);
      add(middle, start + each, part.pointwise_bytes / part.times);
    }
    return begin + length;
  }

  // An optimizer goes through the parameters one by one: its calls take the same time for each,
  // its passes over memory what their bytes need. It begins at `earliest`.
  void add_update(Seconds earliest) {
    const auto first = std::find_if(events_.begin(), events_.end(), [&](const Event& event) {
      return node_of(event).kind == Kind::Update;
    });
    if (first == events_.end()) return;
    const cost::OpTime& op = operators::slowest_class(stages_).ops[first->node];
    const Seconds whole = events_.back().span.end - first->span.start;
    const double in_memory = op.total > Seconds{0} ? std::min(1.0, op.memory / op.total) : 0;
    const std::vector<graph::TensorId>& inputs = node_of(*first).inputs;
    const std::size_t parameters = inputs.size() / 2;
    double all_bytes = 1;
    for (std::size_t i = 0; i < parameters; ++i) all_bytes += stages_.bound.bytes(inputs[i]);
    Seconds begin = std::max(first->span.start, earliest);
    for (std::size_t i = 0; i < parameters; ++i) {
      const double bytes = stages_.bound.bytes(inputs[i]);
      const double share =
          in_memory * bytes / all_bytes + (1 - in_memory) / static_cast<double>(parameters);
      const Seconds end = begin + share * whole;
      add(begin, end, update_values(optimizer_, device_) * bytes);
      begin = end;
    }
  }

  // DistributedDataParallel on a CPU: the call that begins an all-reduce is counted with its bucket
  // as input and output; when the backward pass is over and the bucket's sums are there, they are
  // copied back to the gradients. Copies into buckets are not counted: hooks run unobserved.
  // Returns when all are back.
  Seconds add_exchange() {
    Seconds computed{0};  // when the last gradient was
    for (const Event& event : events_) {
      if (!event.exchange && node_of(event).kind != Kind::Update) computed = event.span.end;
    }
    Seconds begun{0};  // when the worker began the exchange
    Seconds copied = computed;
    for (const Event& event : events_) {
      if (!event.exchange) {
        begun = event.span.end;
        continue;
      }
      if (node_of(event).kind != Kind::AllReduce) continue;
      double bytes = 0;
      for (const graph::TensorId id : node_of(event).inputs) bytes += stages_.bound.bytes(id);
      add(begun, begun + kAtOnce, 2 * bytes);
      const Seconds start = std::max(copied, event.span.end);
      const double calls = known_.copy_call_s * static_cast<double>(node_of(event).inputs.size());
      copied = start + Seconds{2 * bytes / bandwidth() + calls};
      add(start, copied, 2 * bytes);
    }
    return copied;
  }

  const ReplayConstants::Activity& known_ = replay_constants().activity;
  const Stages& stages_;
  const hw::Device& device_;
  graph::Optimizer optimizer_;
  std::vector<Event> events_;
  std::vector<Moved> moved_;
  std::vector<Level> levels_;
};

}  // namespace

std::vector<Level> memory_levels(const Stages& stages, const Resolved& resolved) {
  return Activity(stages, resolved).levels();
}

}  // namespace foretrain::inspector

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/resources.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "foretrain/operators/breakdown.h"

namespace foretrain::operators {
namespace {

// As the lab measures: docs/models/resources.md.
constexpr Seconds kWindow{0.01};
constexpr Seconds kDeviceSmoothing{0.03};
constexpr Seconds kNetworkSmoothing{0.05};
constexpr double kPeriods = 6;         // the curve that is split covers so many steps,
constexpr double kLeastWindows = 64;   // at least so many windows
constexpr double kMostWindows = 2048;  // and at most so many: longer steps get longer windows

// How a quantity grows over one step that repeats: corner points of its running total.
class Running {
 public:
  void add(Seconds start, Seconds end, double amount_per_s) {
    if (end <= start || amount_per_s == 0) return;
    if (start.count() > time_.back()) point(start.count(), total_.back());
    point(end.count(), total_.back() + amount_per_s * (end - start).count());
  }

  // Running total at time t of steps that repeat every `period`. `i` is the corner behind the time
  // asked for last, 0 at first: the next is mostly near.
  double at(double t, double period, std::size_t& i) const {
    const double steps = std::floor(t / period);
    const double within = std::max(0.0, t - steps * period);  // rounding may leave less
    i = corner_after(within, i);
    double total = total_.back();
    if (i < time_.size()) {
      const double part = (within - time_[i - 1]) / (time_[i] - time_[i - 1]);
      total = total_[i - 1] + part * (total_[i] - total_[i - 1]);
    }
    return steps * total_.back() + total;
  }

  bool empty() const { return time_.size() == 1; }

 private:
  // The first corner later than `time`, sought in ever larger steps from corner `from` on.
  std::size_t corner_after(double time, std::size_t from) const {
    if (from > 0 && time_[from - 1] > time) from = 0;
    std::size_t step = 1;
    std::size_t to = from;
    for (; to < time_.size() && time_[to] <= time; step *= 2) {
      from = to;
      to += step;
    }
    const auto begin = time_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(to, time_.size()));
    return static_cast<std::size_t>(
        std::upper_bound(begin + static_cast<std::ptrdiff_t>(from), end, time) - begin);
  }

  void point(double time, double total) {
    time_.push_back(time);
    total_.push_back(total);
  }

  std::vector<double> time_{0};
  std::vector<double> total_{0};
};

struct Sampling {
  double period;
  double window;
  std::size_t windows;
};

Sampling sampling_of(Seconds period) {
  Sampling sampling{period.count(), kWindow.count(), 0};
  const double wanted = std::max(kPeriods * sampling.period, kLeastWindows * sampling.window);
  sampling.window = std::max(sampling.window, wanted / kMostWindows);
  sampling.windows = static_cast<std::size_t>(wanted / sampling.window);
  return sampling;
}

// A level that does not change over the step.
ResourceReport constant(double amount, double scale, const char* unit) {
  resource::SplitOptions options;
  options.scale = scale;
  return {resource::split_bursts({amount}, options).value(), unit};
}

ResourceReport split(const Running& running, const Sampling& sampling, Seconds smoothing,
                     double scale, const char* unit) {
  if (running.empty()) return constant(0, scale, unit);
  std::vector<double> samples(sampling.windows);
  double before = 0;
  std::size_t corner = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double end = static_cast<double>(i + 1) * sampling.window;
    const double total = running.at(end, sampling.period, corner);
    samples[i] = (total - before) / sampling.window;
    before = total;
  }
  resource::SplitOptions options;
  options.window = Seconds{sampling.window};
  options.smoothing = options.shortest_run = smoothing;
  options.scale = scale;
  return {resource::split_bursts(samples, options).value(), unit};
}

void report_device(const Stages& stages, const Sampling& sampling, RoleReport& role) {
  const WorkerClass& worker = slowest_class(stages);
  Running busy;
  Running touching;
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].resource != worker.stream) continue;
    const sim::Span& span = stages.timeline.spans[t];
    if (tasks[t].kind == kPassTask) {
      const Pass& pass = stages.program.passes[static_cast<std::size_t>(tasks[t].tag)];
      if (pass.time <= Seconds{0}) continue;
      busy.add(span.start, span.end, 100 * ((pass.parts.compute + pass.parts.memory) / pass.time));
      touching.add(span.start, span.end, 100 * (pass.touching / pass.time));
    }
    if (tasks[t].kind != kKernelTask) continue;
    const cost::OpTime& op = worker.ops[static_cast<std::size_t>(tasks[t].tag)];
    busy.add(span.start, span.end, 100);
    const double share = op.total > Seconds{0} ? std::min(1.0, op.memory / op.total) : 0;
    touching.add(span.start, span.end, 100 * share);
  }
  role.gpu_util = split(busy, sampling, kDeviceSmoothing, 100, "%");
  role.gpu_memory_util = split(touching, sampling, Seconds{0}, 100, "%");
}

// Bytes at a constant rate.
struct Burst {
  Seconds start{0};
  Seconds end{0};
  double bytes_per_s = 0;
};

// The same bytes as bursts one after the other: where some overlap, their rates add up.
std::vector<Burst> apart(const std::vector<Burst>& bursts) {
  std::map<double, double> changes;  // of the rate, by time
  for (const Burst& burst : bursts) {
    if (burst.bytes_per_s == 0) continue;
    changes[burst.start.count()] += burst.bytes_per_s;
    changes[burst.end.count()] -= burst.bytes_per_s;
  }
  std::vector<Burst> result;
  double rate = 0;
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    rate = std::max(0.0, rate + change->second);  // rounding may leave less
    const auto next = std::next(change);
    if (next == changes.end()) break;
    result.push_back({Seconds{change->first}, Seconds{next->first}, rate});
  }
  return result;
}

// What a node sends (or receives); the scale is what its NICs can.
ResourceReport report_network(const Stages& stages, const hw::Cluster& cluster,
                              const Sampling& sampling, double parallel::Traffic::*bytes) {
  Running running;
  std::vector<Burst> bursts;
  for (const Transfer& transfer : stages.program.transfers) {
    const sim::Span& span = stages.timeline.spans[static_cast<std::size_t>(transfer.task)];
    const Seconds duration = span.end - span.start;
    if (duration > Seconds{0}) {
      bursts.push_back({span.start, span.end, transfer.traffic.*bytes / duration.count()});
    }
  }
  if (!stages.pipeline.empty()) bursts = apart(bursts);
  for (const Burst& burst : bursts) running.add(burst.start, burst.end, burst.bytes_per_s);
  const hw::Link& network = cluster.links[static_cast<std::size_t>(cluster.nodes.front().network)];
  return split(running, sampling, kNetworkSmoothing, hw::node_bytes_per_s(network), "B/s");
}

}  // namespace

ResourcesReport report_resources(const Stages& stages, const Resolved& resolved,
                                 const MemoryReport& memory) {
  using parallel::Traffic;
  const Sampling sampling = sampling_of(stages.timeline.end);
  const auto network = [&](double Traffic::*bytes) {
    return report_network(stages, resolved.cluster, sampling, bytes);
  };
  ResourcesReport report;
  report.window = Seconds{sampling.window};
  report_device(stages, sampling, report.worker);
  report.worker.net_tx = network(&Traffic::worker_tx_bytes);
  const std::vector<Transfer>& transfers = stages.program.transfers;
  const bool alike = std::all_of(transfers.begin(), transfers.end(), [](const Transfer& t) {
    return t.traffic.worker_tx_bytes == t.traffic.worker_rx_bytes;
  });
  report.worker.net_rx = alike ? report.worker.net_tx : network(&Traffic::worker_rx_bytes);
  report.worker.memory_used = constant(memory.peak, memory.capacity, "B");
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  const bool servers = std::any_of(tasks.begin(), tasks.end(),
                                   [](const sim::Task& task) { return task.kind == kServerTask; });
  if (servers) {
    report.server.emplace();
    report.server->net_tx = network(&Traffic::server_tx_bytes);
    report.server->net_rx = network(&Traffic::server_rx_bytes);
  }
  return report;
}

}  // namespace foretrain::operators

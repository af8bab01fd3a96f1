// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/step_clock.h"

#include <algorithm>
#include <map>

#include "foretrain/cost/operator_timer.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::fit {
namespace {

void append(const graph::Bound& bound, const std::vector<graph::TensorId>& tensors,
            std::vector<std::int64_t>& key) {
  for (const graph::TensorId id : tensors) {
    const graph::Extent& extent = bound.extent(id);
    key.push_back(static_cast<std::int64_t>(bound.graph->tensor(id).type));
    for (int axis = 0; axis < extent.rank; ++axis) key.push_back(extent[axis]);
    key.push_back(-1);
  }
  key.push_back(-2);
}

// What cost and host time of a node depend on.
std::vector<std::int64_t> key_of(const graph::Node& node, const graph::Bound& bound) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(node.kind),
                                static_cast<std::int64_t>(node.phase), node.label.empty() ? 0 : 1};
  append(bound, node.inputs, key);
  append(bound, node.outputs, key);
  for (const graph::Attribute& attribute : node.attributes.list()) {
    key.push_back(static_cast<std::int64_t>(attribute.key));
    for (const graph::Dim& value : attribute.values) key.push_back(value.factor);
  }
  return key;
}

void find_alike(StepCase& one) {
  std::map<std::vector<std::int64_t>, std::size_t> places;
  const std::vector<graph::Node>& nodes = one.step->graph.nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto [entry, fresh] = places.try_emplace(key_of(nodes[n], one.bound), one.first.size());
    if (fresh) one.first.push_back(n);
    one.like.push_back(entry->second);
  }
}

}  // namespace

std::unique_ptr<StepCase> make_step_case(const evaluate::Case& row, const Library& library) {
  auto one = std::make_unique<StepCase>();
  const Request request = parse_request(row.request, "request");
  one->resolved = resolve(request, library);
  operators::Stages stages = operators::run_stages(one->resolved, library);
  one->model = row.model;
  one->device = row.device;
  one->precision = request.precision;
  one->measured_s = row.measured;
  one->input = operators::break_down(stages).input;
  one->step = std::move(stages.step);
  one->bound = std::move(stages.bound);
  find_alike(*one);
  return one;
}

Seconds step_time(const StepCase& one, const cost::OperatorModel& model, const Machine& machine) {
  const cost::OperatorTimer timer(one.resolved.cluster.devices.front(), *one.resolved.framework,
                                  one.precision, cost::borrowed(model));
  std::vector<cost::OpTime> kinds;
  std::vector<Seconds> hosts;
  for (const std::size_t n : one.first) {
    const graph::NodeView view{one.bound, one.step->graph.nodes[n]};
    kinds.push_back(timer.time(view, graph::work(view)));
    hosts.push_back(timer.host_time(view) / (machine.host * one.resolved.host_speed));
  }
  std::vector<cost::OpTime> ops;
  ops.reserve(one.like.size());
  for (const std::size_t kind : one.like) ops.push_back(kinds[kind]);
  timer.share_power(ops);
  const cost::Framework& framework = *one.resolved.framework;
  Seconds waiting{framework.call_s / (machine.host * one.resolved.host_speed)};
  Seconds issued{0};
  Seconds done{0};
  for (std::size_t n = 0; n < ops.size(); ++n) {
    waiting += hosts[one.like[n]];
    if (ops[n].kernels == 0) continue;
    const int parts = timer.launch_parts(one.step->graph.nodes[n], ops[n].kernels);
    for (int part = 0; part < parts; ++part) {
      issued += waiting / parts;
      done = std::max(done, issued) + ops[n].total / parts;
    }
    waiting = Seconds{0};
  }
  return done + one.input / machine.copy;
}

}  // namespace foretrain::fit

// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/operator_clock.h"

namespace foretrain::evaluate {

OperatorClock::Place& OperatorClock::place(const std::string& name) {
  Place& place = places_[name];
  if (!place.device) {
    place.device = std::make_unique<hw::Device>(hw::find_device(catalog_, name, nullptr));
    for (const Calibration& one : calibrations_) calibrate(one, *place.device);
  }
  return place;
}

const hw::Device& OperatorClock::device(const std::string& name) { return *place(name).device; }

const cost::OperatorTimer& OperatorClock::timer(const measured::OperatorCase& one) {
  Place& where = place(one.device);
  auto found = where.timers.find(one.precision);
  if (found == where.timers.end()) {
    const cost::OperatorTimer eager(*where.device, cost::Framework{}, one.precision,
                                    cost::borrowed(model_), cost::Repetition::Alone);
    found = where.timers.emplace(one.precision, eager).first;
  }
  return found->second;
}

double OperatorClock::time_s(const measured::OperatorCase& one) {
  double sum = one.overhead_s;
  for (const graph::Node& node : one.graph.nodes) {
    if (node.phase != one.phase) continue;
    const graph::NodeView view{one.bound, node};
    sum += timer(one).time(view, graph::work(view)).total.count();
  }
  return sum;
}

double OperatorClock::time_s(const measured::OperatorCase& one, cost::ConvAlgorithm algorithm) {
  const graph::NodeView view{one.bound, one.graph.nodes[0]};
  return timer(one).conv_time(view, algorithm).total.count() + one.overhead_s;
}

}  // namespace foretrain::evaluate

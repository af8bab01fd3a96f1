// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/operator_file.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/cells.h"
#include "foretrain/evaluate/collected_operators.h"
#include "foretrain/evaluate/training_file.h"
#include "foretrain/graph/builder.h"

namespace foretrain::evaluate {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

// What a benchmark of one operator adds to it: the host issues it and waits for it. Medians of
// the smallest train rows of each kind, docs/models.md.
constexpr double kProductOverhead = 34e-6;
constexpr double kLinearOverhead = 52e-6;
constexpr double kStreamOverhead = 26e-6;

// Rows give batch, rows, the length of the sums and columns, in this order.
void add_product(Builder& b, const Cells& cells, OperatorCase& one) {
  const std::int64_t batch = cells.size("B");
  const std::int64_t m = cells.size("M");
  const std::int64_t k = cells.size("N");
  const std::int64_t n = cells.size("K");
  if (one.op == "linear") {
    one.overhead_s = kLinearOverhead;
    b.add(Kind::Linear, {b.input("x", {batch, m, k}), b.parameter("w", {n, k})});
    return;
  }
  one.overhead_s = kProductOverhead;
  b.add(Kind::MatMul, {b.input("x", {batch, m, k}), b.input("y", {batch, k, n})});
}

void add_convolution(Builder& b, const Cells& cells, OperatorCase&) {
  const std::int64_t in = cells.size("in_channels");
  const std::int64_t side = cells.size("input");
  const std::int64_t window = cells.size("kernel");
  const std::int64_t stride = cells.size("stride");
  const auto padding = static_cast<std::int64_t>(cells.number("padding"));
  const TensorId x = b.input("x", {cells.size("B"), in, side, side});
  const TensorId w = b.parameter("w", {cells.size("out_channels"), in, window, window});
  b.add(Kind::Conv, {x, w},
        Attributes{{Attr::Stride, {stride, stride}}, {Attr::Padding, {padding, padding}}});
}

Kind pointwise(const std::string& op, const Cells& cells) {
  static const std::map<std::string, Kind> kKinds{
      {"add", Kind::Add},    {"mul", Kind::Mul},    {"div", Kind::Div},    {"pow", Kind::Mul},
      {"addu", Kind::Shift}, {"mulu", Kind::Scale}, {"divu", Kind::Scale}, {"powu", Kind::Pow},
      {"relu", Kind::Relu},  {"gelu", Kind::Gelu},  {"tanh", Kind::Tanh}};
  const auto found = kKinds.find(op);
  if (found == kKinds.end()) cells.fail("operator '" + printable(op) + "' is not known");
  return found->second;
}

// A power of two tensors moves what a product of them does.
void add_stream(Builder& b, const Cells& cells, OperatorCase& one) {
  const std::int64_t width = cells.size("H");
  const graph::Shape shape{cells.size("B"), width};
  const TensorId x = b.input("x", shape);
  one.overhead_s = kStreamOverhead;
  if (one.op == "softmax") {
    b.add(Kind::Softmax, {x}, Attributes{{Attr::Axis, {-1}}});
  } else if (one.op == "ln") {
    b.add(Kind::LayerNorm, {x, b.parameter("weight", {width}), b.parameter("bias", {width})});
  } else {
    const Kind kind = pointwise(one.op, cells);
    const bool binary = one.op == "add" || one.op == "mul" || one.op == "div" || one.op == "pow";
    if (binary) {
      b.add(kind, {x, b.input("y", shape)});
    } else {
      b.add(kind, {x});
    }
  }
}

using Adder = void (*)(Builder&, const Cells&, OperatorCase&);

Adder adder_for(const std::vector<std::string>& columns) {
  if (!has_columns(columns, {"split", "device", "op", "latency_ms"})) return nullptr;
  if (has_columns(columns, {"in_channels", "out_channels", "kernel"})) return add_convolution;
  if (has_columns(columns, {"B", "H"})) return add_stream;
  if (has_columns(columns, {"B", "M", "N", "K"})) return add_product;
  return nullptr;
}

double slope_of(const std::vector<std::pair<double, double>>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [px, py] : points) x += px, y += py, xx += px * px, xy += px * py;
  const auto n = static_cast<double>(points.size());
  const double spread = n * xx - x * x;
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

// A line with the slope of least squares that a tenth of the points lie below.
struct Line {
  double start = 0;
  double slope = 0;
};

Line lower_line(const std::vector<std::pair<double, double>>& points) {
  const double slope = slope_of(points);
  std::vector<double> rests;
  for (const auto& [x, y] : points) rests.push_back(y - slope * x);
  std::sort(rests.begin(), rests.end());
  return {rests[rests.size() / 10], slope};
}

// The latencies of NeuSight's convolutions grow with the row's number within a device: the host,
// not the device. The rows with the least work show it: the fastest of them take almost no time on
// the device.
void remove_drift(OperatorCases& cases) {
  constexpr double kShare = 0.06;
  std::map<std::string, std::vector<OperatorCase*>> by_device;
  for (const auto& one : cases) by_device[one->device].push_back(one.get());
  for (auto& [device, rows] : by_device) {
    std::vector<std::pair<double, std::size_t>> work;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const graph::NodeView view{rows[i]->bound, rows[i]->graph.nodes[0]};
      const graph::Work w = graph::work(view);
      work.emplace_back(w.flops / 50 + w.read_bytes + w.written_bytes, i);  // a usual balance
    }
    std::sort(work.begin(), work.end());
    work.resize(static_cast<std::size_t>(kShare * static_cast<double>(work.size())) + 1);
    std::vector<std::pair<double, double>> points;
    for (const auto& [_, i] : work) points.emplace_back(i, rows[i]->measured_s);
    const Line line = lower_line(points);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i]->overhead_s = std::max(0.0, line.start + line.slope * static_cast<double>(i));
    }
  }
}

}  // namespace

bool has_operators(const std::vector<std::string>& columns) {
  return adder_for(columns) != nullptr || are_collected(columns);
}

OperatorCases read_operators(const std::filesystem::path& path, std::size_t stride) {
  TrainingFile file(path);
  if (are_collected(file.columns())) return read_collected(path, stride);
  const std::string name = "file " + printable(path.filename().string());
  const Adder add = adder_for(file.columns());
  if (add == nullptr) {
    throw Error(ErrorKind::BadInput, name + ": not a known file of measured operators");
  }
  OperatorCases cases;
  std::size_t number = 0;
  for (Row row; file.next(row);) {
    const bool wanted = number++ % stride == 0;
    if (!wanted) continue;
    const Cells cells(row, name);
    auto one = std::make_unique<OperatorCase>();
    one->line = row.line;
    one->device = cells.text("device");
    one->op = cells.text("op");
    one->split = cells.text("split").starts_with("test") ? "test" : "train";
    one->measured_s = cells.number("latency_ms") / 1e3;
    if (!(one->measured_s > 0)) cells.fail("latency_ms is not above 0");
    Builder builder("operator");
    add(builder, cells, *one);
    one->graph = builder.finish();
    one->bound = graph::bind(one->graph, {{"batch", 1}});
    cases.push_back(std::move(one));
  }
  if (add == add_convolution) remove_drift(cases);
  return cases;
}

OperatorClock::Place& OperatorClock::place(const std::string& name) {
  Place& place = places_[name];
  if (!place.device) {
    place.device = std::make_unique<hw::Device>(hw::find_device(catalog_, name, nullptr));
    for (const Calibration& one : calibrations_) calibrate(one, *place.device);
  }
  return place;
}

const hw::Device& OperatorClock::device(const std::string& name) { return *place(name).device; }

double OperatorClock::time_s(const OperatorCase& one) {
  Place& where = place(one.device);
  auto found = where.contexts.find(one.precision);
  if (found == where.contexts.end()) {
    const cost::Framework& eager = cost::framework_named("pytorch");
    found =
        where.contexts
            .emplace(one.precision, cost::context_for(*where.device, eager, one.precision, model_))
            .first;
  }
  double sum = one.overhead_s;
  for (const graph::Node& node : one.graph.nodes) {
    if (node.phase != one.phase) continue;
    const graph::NodeView view{one.bound, node};
    sum += cost::analytic_time(view, graph::work(view), found->second).total.count();
  }
  return sum;
}

}  // namespace foretrain::evaluate

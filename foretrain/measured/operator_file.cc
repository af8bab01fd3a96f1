// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/operator_file.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/measured/collected_operators.h"
#include "foretrain/measured/detail/cells.h"
#include "foretrain/measured/detail/host_drift.h"
#include "foretrain/measured/detail/published_operators.h"
#include "foretrain/measured/open_tables.h"

namespace foretrain::measured {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

// What a benchmark of one operator adds to it: the host issues it and waits for it. Of GEMMs
// what makes the mean error of the train rows smallest, of memory-bound ones the median of the
// smallest ones; docs/models/gemm.md.
constexpr double kProductOverhead = 27e-6;
constexpr double kLinearOverhead = 46e-6;
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

// Which algorithm the names of the kernels show; nothing where it is none of the model's.
std::optional<cost::ConvAlgorithm> algorithm_of(const std::string& kernels) {
  const auto has_kernel = [&](const char* name) { return kernels.find(name) != std::string::npos; };
  if (has_kernel("winograd_nonfused")) return cost::ConvAlgorithm::UnfusedWinograd;
  if (has_kernel("generatewinogradtiles")) return cost::ConvAlgorithm::FusedWinograd;
  if (has_kernel("scudnn")) return cost::ConvAlgorithm::Implicit;
  return std::nullopt;
}

void add_convolution(Builder& b, const Cells& cells, OperatorCase& one) {
  one.algorithm = algorithm_of(cells.text("kernels"));
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

Adder adder_for(OperatorTable table) {
  switch (table) {
    case OperatorTable::Gemm:
      return add_product;
    case OperatorTable::Convolution:
      return add_convolution;
    case OperatorTable::MemoryBound:
      return add_stream;
    case OperatorTable::None:
    case OperatorTable::Collected:
      break;
  }
  return nullptr;
}

std::size_t rows_of(Table& table) {
  std::size_t rows = 0;
  for (Row row; table.next(row);) ++rows;
  return rows;
}

// The latencies of NeuSight's convolutions grow with the row's number within a device: the host,
// not the device. The rows with the least work show it.
void remove_drift(OperatorCases& cases) {
  constexpr double kShare = 0.06;
  std::map<std::string, std::vector<OperatorCase*>> by_device;
  for (const auto& one : cases) by_device[one->device].push_back(one.get());
  for (auto& [device, rows] : by_device) {
    std::vector<ShortOperator> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const graph::Work w = graph::work({rows[i]->bound, rows[i]->graph.nodes[0]});
      const double work = w.flops / 50 + w.read_bytes + w.written_bytes;  // a usual balance
      all.push_back({static_cast<double>(i), work, rows[i]->measured_s});
    }
    std::sort(all.begin(), all.end(), [](const ShortOperator& a, const ShortOperator& b) {
      return a.work != b.work ? a.work < b.work : a.number < b.number;
    });
    all.resize(static_cast<std::size_t>(kShare * static_cast<double>(all.size())) + 1);
    const HostDrift drift = find_host_drift(all);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i]->overhead_s = std::max(0.0, drift.start_s + drift.slope_s * static_cast<double>(i));
    }
  }
}

// Of one origin.
OperatorCases read_rows(Table& file, std::size_t stride) {
  if (are_collected(file.columns())) return read_collected(file, stride);
  const std::string& name = file.where();
  const Adder add = adder_for(operator_table(file.columns()));
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

// All of operators, each of one origin.
std::vector<Table> operator_tables(const std::filesystem::path& data) {
  std::vector<Table> found;
  for (Table& table : open_tables(data)) {
    const OperatorTable holds = operator_table(table.columns());
    if (holds == OperatorTable::Collected) {
      for (Table& part : by_origin(table)) found.push_back(std::move(part));
    } else if (holds != OperatorTable::None) {
      found.push_back(std::move(table));
    }
  }
  return found;
}

}  // namespace

OperatorCases read_operators(Table& table, std::size_t stride) {
  if (!are_collected(table.columns())) return read_rows(table, stride);
  OperatorCases cases;
  for (Table& part : by_origin(table)) {
    for (auto& one : read_rows(part, stride)) cases.push_back(std::move(one));
  }
  return cases;
}

OperatorCases read_operators(const std::filesystem::path& data, std::size_t stride) {
  OperatorCases cases;
  bool found = false;
  for (Table& table : open_tables(data)) {
    if (!has_operators(table.columns())) continue;
    found = true;
    for (auto& one : read_operators(table, stride)) cases.push_back(std::move(one));
  }
  if (!found) {
    throw Error(ErrorKind::BadInput,
                "file " + printable(data.filename().string()) +
                    ": not a known file of measured operators, and no store that has some");
  }
  return cases;
}

std::map<OperatorTable, OperatorCases> read_operator_tables(const std::filesystem::path& data,
                                                            std::size_t most) {
  std::vector<std::size_t> strides;  // a table is read once, so rows are counted in another
  for (Table& table : operator_tables(data)) {
    const bool all = operator_table(table.columns()) == OperatorTable::Collected;
    strides.push_back(all ? 1 : std::max<std::size_t>(1, rows_of(table) / most));
  }
  std::map<OperatorTable, OperatorCases> found;
  auto stride = strides.begin();
  for (Table& table : operator_tables(data)) {
    OperatorCases& cases = found[operator_table(table.columns())];
    for (auto& one : read_rows(table, *stride++)) cases.push_back(std::move(one));
  }
  return found;
}

}  // namespace foretrain::measured

// SPDX-License-Identifier: Apache-2.0
// Operators along axes.
#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

// The axes that a reduction sums over; all of them where the file names none.
std::vector<int> reduced_axes(const OnnxCall& call) {
  const int rank = call.rank(0);
  std::vector<int> axes;
  for (const std::int64_t axis : call.listed("axes", 1)) axes.push_back(call.axis(axis, rank));
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) == 0) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  return axes;
}

Shape reduced_shape(const Shape& x, const std::vector<int>& axes, bool keep) {
  Shape result;
  for (int i = 0; i < x.rank(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone) result.push_back(x[i]);
    if (gone && keep) result.push_back(Dim(1));
  }
  return result;
}

std::optional<Scalar> reduce_two(std::string_view op, const Scalar& a, const Scalar& b) {
  if (op == "ReduceSum") return add(a, b);
  if (op == "ReduceProd") return multiply(a, b);
  const std::optional<bool> below = less(a, b);
  if (!below || (op != "ReduceMax" && op != "ReduceMin")) return std::nullopt;
  return *below == (op == "ReduceMax") ? b : a;
}

// Known values, reduced to one.
bool reduce_content(const OnnxCall& call, const Shape& result) {
  const OnnxValue& value = call.in(0);
  if (!call.knows(0) || value.content.empty() || !(elements(result) == Dim(1))) return false;
  std::optional<Scalar> total = value.content.front();
  for (std::size_t i = 1; i < value.content.size() && total; ++i) {
    call.charge((1 + total->terms().size()) * (1 + value.content[i].terms().size()));
    total = reduce_two(call.node().op_type, *total, value.content[i]);
  }
  if (!total) return false;
  call.give_content(0, result, value.type, {*total});
  return true;
}

Attributes reduction_attributes(const std::vector<int>& axes, bool keep) {
  Attributes attributes{{Attr::Axes, std::vector<Dim>(axes.begin(), axes.end())}};
  if (keep) attributes.set(Attr::KeepDims, {Dim(1)});
  return attributes;
}

void reduce(const OnnxCall& call, Kind kind) {
  const std::vector<int> axes = reduced_axes(call);
  const bool keep = call.integer("keepdims", 1) != 0;
  const Shape result = reduced_shape(call.shape(0), axes, keep);
  if (reduce_content(call, result)) return;
  if (axes.empty()) return translate_identity(call, Kind::Identity);
  if (kind == Kind::Opaque) {
    return call.give(0, call.emit_opaque({call.tensor(0)}, {result}, call.in(0).type).front());
  }
  call.give(0, call.emit(kind, {call.tensor(0)}, reduction_attributes(axes, keep)));
}

void arg_max(const OnnxCall& call, Kind kind) {
  const int axis = call.axis_attribute("axis", 0, call.rank(0));
  const bool keep = call.integer("keepdims", 1) != 0;
  call.give(0, call.emit(kind, {call.tensor(0)}, reduction_attributes({axis}, keep)));
}

void softmax(const OnnxCall& call, Kind kind) {
  const int axis = call.axis_attribute("axis", call.version() < 13 ? 1 : -1, call.rank(0));
  Attributes attributes;
  if (axis != call.rank(0) - 1) attributes.set(Attr::Axis, {Dim(axis)});
  call.give(0, call.emit(kind, {call.tensor(0)}, attributes));
}

void hardmax(const OnnxCall& call, Kind /*kind*/) { give_opaque_like(call); }

void cum_sum(const OnnxCall& call, Kind kind) {
  const std::vector<std::int64_t> axes =
      call.has(1) ? call.numbers(1) : std::vector<std::int64_t>{0};
  if (axes.empty()) OnnxCall::fail("needs an axis");
  const int axis = call.axis(axes.front(), call.rank(0));
  call.give(0, call.emit(kind, {call.tensor(0)}, {{Attr::Axis, {Dim(axis)}}}));
}

constexpr std::array kRules{
    OnnxRule{"ReduceMean", reduce, Kind::Mean},
    OnnxRule{"ReduceSum", reduce, Kind::Sum},
    OnnxRule{"ReduceMax", reduce},
    OnnxRule{"ReduceMin", reduce},
    OnnxRule{"ReduceProd", reduce},
    OnnxRule{"ReduceL1", reduce},
    OnnxRule{"ReduceL2", reduce},
    OnnxRule{"ReduceLogSum", reduce},
    OnnxRule{"ReduceLogSumExp", reduce},
    OnnxRule{"ReduceSumSquare", reduce},
    OnnxRule{"ArgMax", arg_max, Kind::ArgMax},
    OnnxRule{"ArgMin", arg_max, Kind::ArgMax},
    OnnxRule{"Softmax", softmax, Kind::Softmax},
    OnnxRule{"LogSoftmax", softmax, Kind::LogSoftmax},
    OnnxRule{"Hardmax", hardmax},
    OnnxRule{"CumSum", cum_sum, Kind::CumSum},
};

}  // namespace

std::span<const OnnxRule> onnx_reduction_rules() { return kRules; }

}  // namespace foretrain::importer

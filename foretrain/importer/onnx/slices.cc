// SPDX-License-Identifier: Apache-2.0
// Slices.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "foretrain/importer/onnx/fold.h"
#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // of an axis

// What is taken along one axis. A length that is not a number has no start that matters.
struct Cut {
  int axis = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  Dim length;
};

// Along an axis of known size, as numpy cuts.
Cut cut_of_numbers(int axis, std::int64_t size, std::int64_t start, std::int64_t end,
                   std::int64_t step) {
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
    OnnxCall::fail("has a step of 0");
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? size : size - 1;
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -size - 1) + size : at, lowest, highest);
  };
  const std::int64_t first = clamp(start);
  const std::int64_t last = clamp(end);
  const std::int64_t way = step > 0 ? last - first : first - last;
  const std::int64_t stride = step > 0 ? step : -step;
  return {axis, first, step, Dim(way <= 0 ? 0 : (way - 1) / stride + 1)};
}

// Along an axis whose size is a symbol, or up to an end that is one: all of it, or the first
// `end` of it, or the last few; which must not be more than there is.
Cut cut_of_symbols(int axis, const Dim& size, const Scalar& start, const Scalar& end,
                   std::int64_t step) {
  const std::optional<bool> before = less(end, Scalar(size));
  const bool beyond = before == false || end.integer().value_or(0) >= kLongest;
  const bool whole = beyond || equal(end, Scalar(size)) == true;
  const Scalar until = whole ? Scalar(size) : end;
  const std::optional<Scalar> length = subtract(until, start);
  const std::optional<Dim> dim = length ? length->dim() : std::nullopt;
  const std::int64_t from_end = start.integer().value_or(0);
  if (from_end < 0 && from_end > -kLongest && whole && step == 1)
    return {axis, 0, 1, Dim(-from_end)};
  if (step != 1 || start.least() < 0 || until.least() < 1 || !dim || dim->factor < 1) {
    OnnxCall::fail_unsupported("cuts an axis whose size is a symbol; give the symbol a value");
  }
  return {axis, start.integer().value_or(0), 1, *dim};
}

[[noreturn]] void fail_unknown_places() {
  OnnxCall::fail_unsupported("cuts at places that are not known before the model runs");
}

const Scalar& known_at(const OnnxCall& call, int i, std::size_t k) {
  const OnnxValue& value = call.in(i);
  if (value.known != OnnxValue::Known::All) fail_unknown_places();
  if (k >= value.content.size()) OnnxCall::fail("starts, ends and axes differ in number");
  return value.content[k];
}

Cut cut(int axis, const Shape& shape, const Scalar& start, const Scalar& end, std::int64_t step) {
  const Dim& size = shape[axis];
  if (is_number(size) && start.integer() && end.integer()) {
    return cut_of_numbers(axis, size.factor, *start.integer(), *end.integer(), step);
  }
  return cut_of_symbols(axis, size, start, end, step);
}

std::vector<Cut> cuts_of(const OnnxCall& call) {
  const Shape& shape = call.shape(0);
  std::vector<Cut> cuts;
  if (call.inputs() == 1) {  // attributes until operator set 9
    const std::vector<std::int64_t> starts = call.integers("starts");
    const std::vector<std::int64_t> ends = call.integers("ends");
    const std::vector<std::int64_t> axes = call.integers("axes");
    if (starts.size() != ends.size()) OnnxCall::fail("starts and ends differ in number");
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const std::int64_t axis = k < axes.size() ? axes[k] : static_cast<std::int64_t>(k);
      cuts.push_back(cut(call.axis(axis, shape.rank()), shape, starts[k], ends[k], 1));
    }
    return cuts;
  }
  const std::vector<std::int64_t> axes =
      call.has(3) ? call.numbers(3) : std::vector<std::int64_t>{};
  const std::vector<std::int64_t> steps =
      call.has(4) ? call.numbers(4) : std::vector<std::int64_t>{};
  if (!call.knows(1)) fail_unknown_places();
  for (std::size_t k = 0; k < call.in(1).content.size(); ++k) {
    const std::int64_t axis = k < axes.size() ? axes[k] : static_cast<std::int64_t>(k);
    cuts.push_back(cut(call.axis(axis, shape.rank()), shape, known_at(call, 1, k),
                       known_at(call, 2, k), k < steps.size() ? steps[k] : 1));
  }
  return cuts;
}

// Known values that a cut leaves.
OnnxValue cut_content(const OnnxValue& value, const Cut& cut) {
  OnnxValue result;
  result.type = value.type;
  result.shape = value.shape;
  result.shape[cut.axis] = cut.length;
  result.known = OnnxValue::Known::All;
  std::size_t inner = 1;
  for (int i = cut.axis + 1; i < value.shape.rank(); ++i)
    inner *= static_cast<std::size_t>(value.shape[i].factor);
  const auto size = static_cast<std::size_t>(value.shape[cut.axis].factor);
  const std::size_t outer = size * inner == 0 ? 0 : value.content.size() / (size * inner);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < cut.length.factor; ++k) {
      const auto at = static_cast<std::size_t>(cut.start + k * cut.step);
      for (std::size_t i = 0; i < inner; ++i)
        result.content.push_back(value.content[(o * size + at) * inner + i]);
    }
  }
  return result;
}

TensorId emit_cut(const OnnxCall& call, TensorId id, const Cut& cut) {
  const Shape shape = call.shape_of(id);
  if (shape[cut.axis] == cut.length && cut.step == 1) return id;
  if (is_number(shape[cut.axis]) && is_number(cut.length) && cut.step > 0) {
    const std::int64_t end = cut.start + (cut.length.factor - 1) * cut.step + 1;
    return call.emit(Kind::Slice, {id},
                     {{Attr::Axis, {Dim(cut.axis)}},
                      {Attr::Start, {Dim(cut.start)}},
                      {Attr::End, {Dim(end)}},
                      {Attr::Step, {Dim(cut.step)}}});
  }
  Shape result = shape;
  result[cut.axis] = cut.length;
  return call.emit_opaque({id}, {result}, call.all().graph.tensor(id).type).front();
}

void slice(const OnnxCall& call, Kind /*kind*/) {
  const std::vector<Cut> cuts = cuts_of(call);
  const OnnxValue& value = call.in(0);
  Shape shape = value.shape;
  unsigned seen = 0;
  for (const Cut& cut : cuts) {
    shape[cut.axis] = cut.length;
    const unsigned bit = 1U << static_cast<unsigned>(cut.axis);
    if ((seen & bit) != 0) OnnxCall::fail("names an axis twice");
    seen |= bit;
  }
  const bool empty = elements(shape) == Dim(0);
  if (empty) return call.give_content(0, shape, value.type, {});
  if (value.known == OnnxValue::Known::Uniform) {
    return call.give_uniform(0, shape, value.type, value.content.front());
  }
  if (value.known == OnnxValue::Known::All) {
    if (!is_number(elements(shape))) fail_unknown_places();
    OnnxValue now = value;
    for (const Cut& cut : cuts) now = cut_content(now, cut);
    call.charge(value.content.size());
    return call.give_content(0, now.shape, now.type, std::move(now.content));
  }
  TensorId id = call.tensor(0);
  for (const Cut& cut : cuts) id = emit_cut(call, id, cut);
  OnnxValue result;
  result.tensor = id;
  result.shape = call.shape_of(id);
  result.type = value.type;
  const bool rows = value.stored != nullptr && is_number(elements(shape));
  if (rows) result.parts = {{value.stored, elements(shape).factor}};
  call.give(0, std::move(result));
}

constexpr std::array kRules{
    OnnxRule{"Slice", slice},
};

}  // namespace

TensorId emit_slice(const OnnxCall& call, TensorId id, int axis, std::int64_t start,
                    std::int64_t end) {
  return emit_cut(call, id, {axis, start, 1, Dim(end - start)});
}

std::vector<Scalar> slice_content(const OnnxValue& value, int axis, std::int64_t start,
                                  std::int64_t length) {
  return cut_content(value, {axis, start, 1, Dim(length)}).content;
}

std::span<const OnnxRule> onnx_slice_rules() { return kRules; }

}  // namespace foretrain::importer

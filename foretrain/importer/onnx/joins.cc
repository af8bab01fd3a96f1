// SPDX-License-Identifier: Apache-2.0
// Operators that cut tensors apart, put them together and pad them.
#include <algorithm>
#include <array>
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

std::vector<Dim> split_sizes(const OnnxCall& call, const Dim& size) {
  std::vector<Dim> sizes;
  if (call.has(1)) return call.sizes(1);
  for (const std::int64_t part : call.integers("split")) sizes.emplace_back(part);
  if (!sizes.empty()) return sizes;
  const auto count = static_cast<std::int64_t>(call.node().outputs.size());
  Dim each;
  if (divides(Dim(count), size, each)) {
    sizes.assign(static_cast<std::size_t>(count), each);
    return sizes;
  }
  if (!is_number(size)) OnnxCall::fail_unsupported("does not split the symbol evenly");
  const std::int64_t chunk = (size.factor + count - 1) / count;  // the last part is smaller
  for (std::int64_t rest = size.factor; rest > 0; rest -= chunk)
    sizes.emplace_back(std::min(rest, chunk));
  return sizes;
}

// The parts of known values.
void split_content(const OnnxCall& call, int axis, const std::vector<Dim>& sizes) {
  const OnnxValue& value = call.in(0);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool fits = is_number(sizes[i]) && sizes[i].factor >= 0 &&
                      sizes[i].factor <= value.shape[axis].factor - start;
    if (!fits) OnnxCall::fail("the parts do not add up to the axis");
    Shape shape = value.shape;
    shape[axis] = sizes[i];
    call.give_content(static_cast<int>(i), shape, value.type,
                      slice_content(value, axis, start, sizes[i].factor));
    start += sizes[i].factor;
  }
}

void split(const OnnxCall& call, Kind kind) {
  const OnnxValue& value = call.in(0);
  const int axis = call.axis_attribute("axis", 0, value.shape.rank());
  const std::vector<Dim> sizes = split_sizes(call, value.shape[axis]);
  if (sizes.size() != call.node().outputs.size()) {
    OnnxCall::fail("parts and outputs differ in number");
  }
  if (value.known == OnnxValue::Known::All) return split_content(call, axis, sizes);
  std::vector<Dim> filled = sizes;
  std::erase(filled, Dim(0));
  const std::vector<TensorId> parts =
      call.emit_all(kind, {call.tensor(0)}, {{Attr::Axis, {Dim(axis)}}, {Attr::Sizes, filled}});
  std::size_t next = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Shape empty = value.shape;
    empty[axis] = Dim(0);
    if (sizes[i] == Dim(0)) {
      call.give_content(static_cast<int>(i), empty, value.type, {});
    } else {
      call.give(static_cast<int>(i), parts[next++]);
    }
  }
}

bool concat_content(const OnnxCall& call, int axis, Shape shape) {
  shape[axis] = Dim(0);
  std::size_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i].factor);
  std::size_t count = 0;
  for (int i = 0; i < call.inputs(); ++i) {
    if (!call.knows(i)) return false;
    if (call.rank(i) != shape.rank()) OnnxCall::fail("joins tensors of different ranks");
    shape[axis].factor += call.shape(i)[axis].factor;
    count += call.in(i).content.size();
  }
  if (count > kMostOnnxValues || small_count(shape) != count) return false;
  outer = std::max<std::size_t>(outer, 1);
  std::vector<Scalar> content;
  for (std::size_t o = 0; o < outer; ++o) {
    for (int i = 0; i < call.inputs(); ++i) {
      const std::vector<Scalar>& part = call.in(i).content;
      const std::size_t length = part.size() / outer;
      content.insert(content.end(), part.begin() + static_cast<std::ptrdiff_t>(o * length),
                     part.begin() + static_cast<std::ptrdiff_t>((o + 1) * length));
    }
  }
  call.give_content(0, shape, call.in(0).type, std::move(content));
  return true;
}

// Where a file says 1 for the batch, what is the same for every sample must be repeated.
TensorId with_batch(const OnnxCall& call, TensorId id, const Dim& batch) {
  const Shape shape = call.shape_of(id);
  if (shape.rank() == 0 || !(shape[0] == Dim(1)) || is_number(batch)) return id;
  std::vector<Dim> target(shape.dims().begin(), shape.dims().end());
  target[0] = batch;
  return call.emit(Kind::Expand, {id}, {{Attr::Shape, target}});
}

void concat(const OnnxCall& call, Kind kind) {
  const Shape first = call.shape(0);
  const int axis = call.axis_attribute("axis", call.version() < 4 ? 1 : 0, first.rank());
  if (concat_content(call, axis, first)) return;
  std::vector<TensorId> tensors;
  std::vector<OnnxPart> parts;
  bool from_weights = axis == 0;
  Dim batch(1);
  for (int i = 0; i < call.inputs(); ++i) {
    const OnnxValue& value = call.in(i);
    if (elements(value.shape) == Dim(0)) continue;  // nothing to join
    tensors.push_back(call.tensor(i));
    from_weights = from_weights && !value.parts.empty();
    parts.insert(parts.end(), value.parts.begin(), value.parts.end());
    if (axis != 0 && value.shape.rank() > 0 && !is_number(value.shape[0])) batch = value.shape[0];
  }
  if (tensors.empty()) return call.give_content(0, first, call.in(0).type, {});
  if (call.all().replaces_batch) {
    for (TensorId& id : tensors) id = with_batch(call, id, batch);
  }
  const TensorId joined =
      tensors.size() == 1 ? tensors[0] : call.emit(kind, tensors, {{Attr::Axis, {Dim(axis)}}});
  OnnxValue result;
  result.tensor = joined;
  result.shape = call.shape_of(joined);
  result.type = call.in(0).type;
  if (from_weights && parts.size() <= kMostOnnxValues) result.parts = std::move(parts);
  call.give(0, std::move(result));
}

void pad(const OnnxCall& call, Kind kind) {
  const auto rank = static_cast<std::size_t>(call.rank(0));
  std::vector<std::int64_t> given = call.listed("pads", 1);
  if (given.empty()) given = call.integers("paddings");
  std::vector<std::int64_t> axes = call.has(3) ? call.numbers(3) : std::vector<std::int64_t>{};
  if (!call.has(3)) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (given.size() != 2 * axes.size()) OnnxCall::fail("needs two pads per axis");
  std::vector<Dim> padding(2 * rank, Dim(0));
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<std::size_t>(call.axis(axes[k], call.rank(0)));
    padding[axis] = Dim(given[k]);
    padding[axis + rank] = Dim(given[k + axes.size()]);
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const auto absurd = [](const Dim& dim) { return dim.factor > kMost || dim.factor < -kMost; };
  if (std::any_of(padding.begin(), padding.end(), absurd)) OnnxCall::fail("an absurd pad");
  if (std::all_of(padding.begin(), padding.end(), [](const Dim& dim) { return dim == Dim(0); })) {
    return translate_identity(call, Kind::Identity);
  }
  call.give(0, call.emit(kind, {call.tensor(0)}, {{Attr::Padding, padding}}));
}

constexpr std::array kRules{
    OnnxRule{"Split", split, Kind::Split},
    OnnxRule{"Concat", concat, Kind::Concat},
    OnnxRule{"Pad", pad, Kind::Pad},
};

}  // namespace

std::span<const OnnxRule> onnx_join_rules() { return kRules; }

}  // namespace foretrain::importer

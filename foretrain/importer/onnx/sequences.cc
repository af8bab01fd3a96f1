// SPDX-License-Identifier: Apache-2.0
// Lists of tensors, which some exporters write for chunks and stacks.
#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::int64_t kMostItems = 65'536;

void give_sequence(const OnnxCall& call, std::vector<OnnxValue*> items) {
  call.charge(items.size() + 1);
  OnnxValue sequence;
  sequence.is_sequence = true;
  sequence.items = std::move(items);
  call.give(0, std::move(sequence));
}

const std::vector<OnnxValue*>& items_of(const OnnxCall& call, int i) {
  if (!call.in(i).is_sequence) OnnxCall::fail("input " + std::to_string(i) + " is no sequence");
  return call.in(i).items;
}

// A place in a list of `count`, counted from the front.
std::size_t place(const OnnxCall& call, int i, std::size_t count) {
  const std::vector<std::int64_t> given = call.numbers(i);
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t at = given.empty()       ? size
                          : given.front() < 0 ? given.front() + size
                                              : given.front();
  if (at < 0 || at > size) OnnxCall::fail("an index lies outside the sequence");
  return static_cast<std::size_t>(at);
}

void construct(const OnnxCall& call, Kind /*kind*/) {
  std::vector<OnnxValue*> items;
  for (int i = 0; i < call.inputs(); ++i) items.push_back(&call.in(i));
  give_sequence(call, std::move(items));
}

void empty(const OnnxCall& call, Kind /*kind*/) { give_sequence(call, {}); }

void insert(const OnnxCall& call, Kind /*kind*/) {
  std::vector<OnnxValue*> items = items_of(call, 0);
  const std::size_t at = call.has(2) ? place(call, 2, items.size()) : items.size();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), &call.in(1));
  give_sequence(call, std::move(items));
}

void item(const OnnxCall& call, Kind /*kind*/) {
  const std::vector<OnnxValue*>& items = items_of(call, 0);
  const std::size_t at = place(call, 1, items.size());
  if (at == items.size()) OnnxCall::fail("an index lies outside the sequence");
  call.give(0, items[at]);
}

void length(const OnnxCall& call, Kind /*kind*/) {
  call.give_content(0, {}, DType::I64,
                    {Scalar(static_cast<std::int64_t>(items_of(call, 0).size()))});
}

void split(const OnnxCall& call, Kind /*kind*/) {
  const Shape x = call.shape(0);
  const int axis = call.axis_attribute("axis", 0, x.rank());
  const bool keep = call.integer("keepdims", 1) != 0 || call.has(1);
  if (!is_number(x[axis]))
    OnnxCall::fail_unsupported("splits an axis whose size is a symbol; give the symbol a value");
  std::vector<std::int64_t> sizes = call.has(1) ? call.numbers(1) : std::vector<std::int64_t>{1};
  if (sizes.size() == 1) {  // parts of one size, the last of what is left
    const std::int64_t size = sizes.front();
    if (size < 1 || x[axis].factor / size >= kMostItems)
      OnnxCall::fail("an absurd number of parts");
    sizes.clear();
    for (std::int64_t rest = x[axis].factor; rest > 0; rest -= size)
      sizes.push_back(std::min(rest, size));
  }
  const std::vector<TensorId> parts =
      call.emit_all(Kind::Split, {call.tensor(0)},
                    {{Attr::Axis, {Dim(axis)}}, {Attr::Sizes, {sizes.begin(), sizes.end()}}});
  Shape flat;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) flat.push_back(x[i]);
  }
  std::vector<OnnxValue*> items;
  for (const TensorId part : parts) {
    OnnxValue value;
    value.tensor = keep ? part : call.reshape(part, flat);
    value.shape = call.shape_of(*value.tensor);
    value.type = call.in(0).type;
    items.push_back(new_value(call.all(), std::move(value)));
  }
  give_sequence(call, std::move(items));
}

void concat(const OnnxCall& call, Kind kind) {
  const std::vector<OnnxValue*>& items = items_of(call, 0);
  if (items.empty()) OnnxCall::fail_unsupported("joins an empty sequence");
  const bool stack = call.integer("new_axis", 0) != 0;
  const Shape first = items.front()->shape;
  const int axis = call.axis_attribute("axis", 0, first.rank() + (stack ? 1 : 0));
  std::vector<TensorId> tensors;
  for (OnnxValue* value : items) {
    TensorId id = tensor_of(call, *value);
    if (stack) {
      Shape wide;
      const Shape shape = call.shape_of(id);
      for (int i = 0; i <= shape.rank(); ++i) {
        if (i == axis) wide.push_back(Dim(1));
        if (i < shape.rank()) wide.push_back(shape[i]);
      }
      id = call.reshape(id, wide);
    }
    tensors.push_back(id);
  }
  call.give(0, call.emit(kind, tensors, {{Attr::Axis, {Dim(axis)}}}));
}

constexpr std::array kRules{
    OnnxRule{"SequenceConstruct", construct},
    OnnxRule{"SequenceEmpty", empty},
    OnnxRule{"SequenceInsert", insert},
    OnnxRule{"SequenceAt", item},
    OnnxRule{"SequenceLength", length},
    OnnxRule{"SplitToSequence", split},
    OnnxRule{"ConcatFromSequence", concat, Kind::Concat},
};

}  // namespace

std::span<const OnnxRule> onnx_sequence_rules() { return kRules; }

}  // namespace foretrain::importer

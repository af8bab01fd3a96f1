// SPDX-License-Identifier: Apache-2.0
// Operators that take values by their place.
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

constexpr std::size_t kMostTables = 16;  // that weights are compared with

Shape gathered(const Shape& data, const Shape& indices, int axis) {
  Shape result;
  for (int i = 0; i < axis; ++i) result.push_back(data[i]);
  for (const Dim& dim : indices.dims()) result.push_back(dim);
  for (int i = axis + 1; i < data.rank(); ++i) result.push_back(data[i]);
  return result;
}

bool gather_content(const OnnxCall& call, int axis) {
  if (!call.knows(0) || !call.knows(1)) return false;
  const OnnxValue& data = call.in(0);
  const Shape result = gathered(data.shape, call.shape(1), axis);
  if (!small_count(result)) return false;
  std::size_t inner = 1;
  for (int i = axis + 1; i < data.shape.rank(); ++i)
    inner *= static_cast<std::size_t>(data.shape[i].factor);
  const std::int64_t size = data.shape[axis].factor;
  const std::size_t block = static_cast<std::size_t>(size) * inner;
  const std::size_t outer = block == 0 ? 0 : data.content.size() / block;
  const std::vector<std::int64_t> indices = call.numbers(1);
  std::vector<Scalar> content;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : indices) {
      const std::int64_t at = index < 0 ? index + size : index;
      if (at < 0 || at >= size) OnnxCall::fail("an index lies outside the axis");
      for (std::size_t i = 0; i < inner; ++i) {
        content.push_back(data.content[o * block + static_cast<std::size_t>(at) * inner + i]);
      }
    }
  }
  if (small_count(result) != content.size()) return false;
  call.give_content(0, result, data.type, std::move(content));
  return true;
}

// One place along an axis of known size: a view.
bool gather_one(const OnnxCall& call, int axis) {
  const Scalar* index = call.uniform(1);
  const Dim& size = call.shape(0)[axis];
  if (index == nullptr || !index->integer() || !is_number(size) || !call.knows(1)) return false;
  if (!(elements(call.shape(1)) == Dim(1))) return false;
  const std::int64_t at =
      *index->integer() < 0 ? *index->integer() + size.factor : *index->integer();
  if (at < 0 || at >= size.factor) OnnxCall::fail("the index lies outside the axis");
  const Shape result = gathered(call.shape(0), call.shape(1), axis);
  call.give(0, call.reshape(emit_slice(call, call.tensor(0), axis, at, at + 1), result));
  return true;
}

void gather(const OnnxCall& call, Kind kind) {
  OnnxValue& data = call.in(0);
  const int axis = call.axis_attribute("axis", 0, data.shape.rank());
  if (gather_content(call, axis)) return;
  const bool table = data.stored != nullptr && data.shape.rank() == 2 && axis == 0 &&
                     is_floating(data.type) && call.uniform(1) == nullptr;
  if (table) {
    const TensorId weight = call.weight(0);
    std::vector<const OnnxTensor*>& tables = call.all().tables;
    const bool listed = std::find(tables.begin(), tables.end(), data.stored) != tables.end();
    if (!data.transposed && !listed && tables.size() < kMostTables) tables.push_back(data.stored);
    return call.give(0, call.emit(Kind::Embedding, {call.tensor(1), weight}));
  }
  if (gather_one(call, axis)) return;
  call.give(0, call.emit(kind, {call.tensor(0), call.tensor(1)}, {{Attr::Axis, {Dim(axis)}}}));
}

// The last axis of the indices is a place in the data; each gives what lies there.
void gather_nd(const OnnxCall& call, Kind /*kind*/) {
  const Shape& data = call.shape(0);
  const Shape& indices = call.shape(1);
  const std::int64_t shared = call.integer("batch_dims", 0);
  const Dim depth = indices.rank() == 0 ? Dim(0) : indices[indices.rank() - 1];
  if (!is_number(depth) || depth.factor < 1 || shared < 0 || depth.factor > data.rank() - shared) {
    OnnxCall::fail("the indices do not fit the data");
  }
  Shape result;
  for (int i = 0; i + 1 < indices.rank(); ++i) result.push_back(indices[i]);
  for (int i = static_cast<int>(shared + depth.factor); i < data.rank(); ++i)
    result.push_back(data[i]);
  give_opaque(call, result, call.in(0).type);
}

void like_indices(const OnnxCall& call, Kind /*kind*/) {
  give_opaque(call, call.shape(1), call.in(0).type);
}

void like_data(const OnnxCall& call, Kind /*kind*/) { give_opaque_like(call); }

void one_hot(const OnnxCall& call, Kind /*kind*/) {
  const Shape& indices = call.shape(0);
  const std::vector<Dim> depth = call.sizes(1);
  if (depth.size() != 1 || depth[0].factor < 1) OnnxCall::fail("'depth' is one positive number");
  const int axis = call.axis_attribute("axis", -1, indices.rank() + 1);
  Shape result;
  for (int i = 0; i <= indices.rank(); ++i) {
    if (i == axis) result.push_back(depth[0]);
    if (i < indices.rank()) result.push_back(indices[i]);
  }
  const DType type = call.has(2) ? call.in(2).type : DType::F32;
  call.give(0, call.emit_opaque({call.tensor(0)}, {result}, type).front());
}

void top_k(const OnnxCall& call, Kind kind) {
  const std::vector<std::int64_t> given =
      call.has(1) ? call.numbers(1) : std::vector<std::int64_t>{};
  const std::int64_t k = given.empty() ? call.integer("k", 1) : given.front();
  const int axis = call.axis_attribute("axis", -1, call.rank(0));
  const std::vector<TensorId> outputs =
      call.emit_all(kind, {call.tensor(0)}, {{Attr::Axis, {Dim(axis)}}, {Attr::Sizes, {Dim(k)}}});
  call.give(0, outputs[0]);
  call.give(1, outputs[1]);
}

// Data decide how many there are; the file may state it.
void data_dependent(const OnnxCall& call, Kind /*kind*/) { translate_unknown(call); }

constexpr std::array kRules{
    OnnxRule{"Gather", gather, Kind::Gather},
    OnnxRule{"GatherElements", like_indices},
    OnnxRule{"GatherND", gather_nd},
    OnnxRule{"Scatter", like_data},
    OnnxRule{"ScatterElements", like_data},
    OnnxRule{"ScatterND", like_data},
    OnnxRule{"TensorScatter", like_data},
    OnnxRule{"ReverseSequence", like_data},
    OnnxRule{"Trilu", like_data},
    OnnxRule{"CumProd", like_data},
    OnnxRule{"OneHot", one_hot},
    OnnxRule{"TopK", top_k, Kind::TopK},
    OnnxRule{"Compress", data_dependent},
    OnnxRule{"Unique", data_dependent},
    OnnxRule{"NonMaxSuppression", data_dependent},
};

}  // namespace

std::span<const OnnxRule> onnx_lookup_rules() { return kRules; }

}  // namespace foretrain::importer

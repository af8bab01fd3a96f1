// SPDX-License-Identifier: Apache-2.0
// Operators that give the same values another shape.
#include <algorithm>
#include <array>
#include <optional>
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

// Output 0 is input 0 with another shape of as many elements.
void give_reshaped(const OnnxCall& call, const Shape& shape) {
  const OnnxValue& value = call.in(0);
  if (value.known == OnnxValue::Known::All) {
    return call.give_content(0, shape, value.type, value.content);
  }
  if (value.known == OnnxValue::Known::Uniform) {
    return call.give_uniform(0, shape, value.type, value.content.front());
  }
  OnnxValue result;
  result.tensor = call.reshape(call.tensor(0), shape);
  result.shape = shape;
  result.type = value.type;
  result.parts = value.parts;
  call.give(0, std::move(result));
}

bool has_batch(const Dim& dim) { return dim.power[0] > 0; }

// The place in `target` that the batch's axis becomes: the first 1 among the dimensions that
// cover that axis of `from`, else the first of them; but features, which come last, stay apart.
std::optional<std::size_t> batch_place(const Shape& from, const std::vector<Dim>& target) {
  Dim before(1);
  Dim covered(1);
  for (const Dim& dim : from.dims()) {
    covered = Dim(dim.factor);
    if (has_batch(dim)) break;
    before = before * dim;
  }
  std::size_t first = 0;
  for (Dim reached(1); first < target.size() && !(reached == before); ++first) {
    if (target[first].factor < 1) return std::nullopt;
    reached = reached * target[first];
  }
  Dim reached(1);
  for (std::size_t i = first; i < target.size(); ++i) {
    if (target[i] == Dim(1)) return i;
    if (target[i].factor < 1) return std::nullopt;  // -1 takes what is left
    if (reached == covered) break;
    reached = reached * target[i];
  }
  if (first == target.size()) return std::nullopt;
  return first + 1 == target.size() && first > 0 ? first - 1 : first;
}

// Where a file says 1 for the batch, its reshapes say so too.
void put_batch(const Shape& from, std::vector<Dim>& target) {
  const auto axes = from.dims();
  const bool numbers = std::all_of(target.begin(), target.end(), graph::is_number);
  if (std::count_if(axes.begin(), axes.end(), has_batch) != 1 || !numbers) return;
  const std::optional<std::size_t> place = batch_place(from, target);
  if (place && target[*place].factor > 0) target[*place] = target[*place] * graph::symbol(0);
}

Shape reshape_target(const OnnxCall& call, std::vector<Dim> dims) {
  const Shape& from = call.shape(0);
  const bool copies = call.integer("allowzero", 0) == 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == Dim(0) && copies) {
      if (static_cast<int>(i) >= from.rank())
        OnnxCall::fail("copies a dimension that is not there");
      dims[i] = from[static_cast<int>(i)];
    }
  }
  if (call.all().replaces_batch) put_batch(from, dims);
  Shape target;
  int open = -1;
  Dim known(1);
  for (const Dim& dim : dims) {
    if (dim == Dim(-1)) {
      if (open >= 0) OnnxCall::fail("has more than one dimension of -1");
      open = target.rank();
    } else {
      if (dim.factor < 0) OnnxCall::fail("has a negative dimension");
      known = known * dim;
    }
    target.push_back(dim);
  }
  const Dim total = elements(from);
  if (open >= 0 && !divides(known, total, target[open])) {
    OnnxCall::fail("does not divide the elements evenly");
  }
  if (open < 0 && !(known == total)) OnnxCall::fail("changes the number of elements");
  return target;
}

void reshape(const OnnxCall& call, Kind /*kind*/) {
  std::vector<Dim> dims;
  if (call.inputs() > 1) {
    dims = call.sizes(1);
  } else {  // until operator set 4
    for (const std::int64_t dim : call.integers("shape")) dims.emplace_back(dim);
  }
  give_reshaped(call, reshape_target(call, std::move(dims)));
}

void flatten(const OnnxCall& call, Kind /*kind*/) {
  const Shape& from = call.shape(0);
  const std::int64_t given = call.integer("axis", 1);
  const std::int64_t axis = given < 0 ? given + from.rank() : given;
  if (axis < 0 || axis > from.rank()) OnnxCall::fail("its axis lies outside the tensor");
  Shape target{Dim(1), Dim(1)};
  for (int i = 0; i < from.rank(); ++i)
    target[i < axis ? 0 : 1] = target[i < axis ? 0 : 1] * from[i];
  give_reshaped(call, target);
}

void squeeze(const OnnxCall& call, Kind /*kind*/) {
  const Shape& from = call.shape(0);
  const std::vector<std::int64_t> axes = call.listed("axes", 1);
  unsigned gone = 0;
  for (const std::int64_t axis : axes)
    gone |= 1U << static_cast<unsigned>(call.axis(axis, from.rank()));
  Shape target;
  for (int i = 0; i < from.rank(); ++i) {
    const bool named = ((gone >> static_cast<unsigned>(i)) & 1U) != 0;
    const bool one = from[i] == Dim(1);
    if (named && !one) OnnxCall::fail("drops an axis whose size is not 1");
    if (!(axes.empty() ? one : named)) target.push_back(from[i]);
  }
  give_reshaped(call, target);
}

void unsqueeze(const OnnxCall& call, Kind /*kind*/) {
  const Shape& from = call.shape(0);
  const std::vector<std::int64_t> axes = call.listed("axes", 1);
  const int rank =
      from.rank() + static_cast<int>(std::min<std::size_t>(axes.size(), graph::kMaxRank));
  if (rank > graph::kMaxRank) OnnxCall::fail_unsupported("a tensor of more than 8 dimensions");
  unsigned added = 0;
  for (const std::int64_t axis : axes) {
    const unsigned bit = 1U << static_cast<unsigned>(call.axis(axis, rank));
    if ((added & bit) != 0) OnnxCall::fail("names an axis twice");
    added |= bit;
  }
  Shape target;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    const bool is_new = ((added >> static_cast<unsigned>(i)) & 1U) != 0;
    target.push_back(is_new ? Dim(1) : from[next++]);
  }
  give_reshaped(call, target);
}

// Known values in the order of the permuted axes.
std::vector<Scalar> permuted(const OnnxValue& value, const std::vector<int>& order) {
  std::vector<std::size_t> sources{0};
  for (std::size_t i = order.size(); i-- > 0;) {
    std::size_t stride = 1;
    for (int axis = order[i] + 1; axis < value.shape.rank(); ++axis) {
      stride *= static_cast<std::size_t>(value.shape[axis].factor);
    }
    std::vector<std::size_t> next;
    for (std::size_t k = 0; k < static_cast<std::size_t>(value.shape[order[i]].factor); ++k) {
      for (const std::size_t source : sources) next.push_back(source + k * stride);
    }
    sources = std::move(next);
  }
  return picked(value.content, sources);
}

void transpose(const OnnxCall& call, Kind /*kind*/) {
  const OnnxValue& value = call.in(0);
  const int rank = value.shape.rank();
  std::vector<int> order;
  for (const std::int64_t axis : call.integers("perm")) order.push_back(call.axis(axis, rank));
  if (call.attribute("perm") == nullptr) {
    for (int i = rank; i-- > 0;) order.push_back(i);
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < static_cast<int>(sorted.size()); ++i) {
    if (sorted[static_cast<std::size_t>(i)] != i) OnnxCall::fail("'perm' is no permutation");
  }
  if (static_cast<int>(order.size()) != rank) OnnxCall::fail("'perm' does not name every axis");
  if (sorted == order) return translate_identity(call, Kind::Identity);
  Shape target;
  for (const int axis : order) target.push_back(value.shape[axis]);
  if (value.known == OnnxValue::Known::All) {
    return call.give_content(0, target, value.type, permuted(value, order));
  }
  if (value.known == OnnxValue::Known::Uniform) {
    return call.give_uniform(0, target, value.type, value.content.front());
  }
  if (value.stored != nullptr && rank == 2) {
    OnnxValue turned = value;
    turned.shape = target;
    turned.transposed = !value.transposed;
    return call.give(0, std::move(turned));
  }
  call.give(0, call.transpose(call.tensor(0), order));
}

constexpr std::array kRules{
    OnnxRule{"Identity", translate_identity},
    OnnxRule{"Reshape", reshape},
    OnnxRule{"Flatten", flatten},
    OnnxRule{"Squeeze", squeeze},
    OnnxRule{"Unsqueeze", unsqueeze},
    OnnxRule{"Transpose", transpose},
};

}  // namespace

std::span<const OnnxRule> onnx_view_rules() { return kRules; }

}  // namespace foretrain::importer

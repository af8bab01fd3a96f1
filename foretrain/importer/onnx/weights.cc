// SPDX-License-Identifier: Apache-2.0
// Which tensors of a file are learned, and where they are added to the graph. A file does not
// say; docs/onnx.md lists the rules.
#include <algorithm>
#include <cmath>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/importer/onnx/call.h"
#include "foretrain/importer/onnx/files.h"
#include "foretrain/importer/onnx/names.h"
#include "foretrain/importer/onnx/tensor.h"

namespace foretrain::importer {
namespace {

using graph::Dim;
using graph::Kind;
using graph::Role;
using graph::Shape;
using graph::TensorId;

constexpr int kSamples = 64;  // values that two matrices are compared by

enum class Slot { Weight, Any };

bool all_finite(const OnnxTensor& tensor) {
  return std::all_of(tensor.reals.begin(), tensor.reals.end(),
                     [](double value) { return std::isfinite(value); });
}

bool is_vector(const OnnxTensor& tensor) {
  return std::count_if(tensor.dims.begin(), tensor.dims.end(), [](auto d) { return d > 1; }) <= 1;
}

bool is_learned(const OnnxCall& call, const OnnxValue& value, Slot slot) {
  const OnnxTensor& stored = *value.stored;
  if (!is_floating(value.type)) return false;
  const auto kind = call.all().torch_kinds.find(stored.name);
  if (kind != call.all().torch_kinds.end()) return kind->second == "PARAMETER";
  if (sounds_fixed(stored.name)) return false;
  // A norm without weights is exported with ones and zeros.
  if (stored.uniform && (value.from_constant || is_made_up(stored.name))) return false;
  if (slot == Slot::Weight) return true;
  if (value.from_constant) return false;
  if (elements(value.shape) == Dim(1)) return sounds_learned(stored.name);
  // Masks and tables that the exporter computed from constants look like this.
  if (stored.name.starts_with("val_") && is_made_up(stored.name)) return is_vector(stored);
  return all_finite(stored);
}

TensorId add_tensor(OnnxTranslation& all, std::string name, const Shape& shape, DType type,
                    bool learned) {
  for (const Dim& dim : shape.dims()) {
    if (dim.factor < 1) throw Error(ErrorKind::Unsupported, "a tensor without elements");
  }
  elements(shape);  // throws where there are too many
  all.budget.spend(sizeof(graph::Tensor) + name.size());
  all.graph.tensors.push_back(
      {std::move(name), shape, type, learned ? Role::Parameter : Role::Buffer, learned});
  return static_cast<TensorId>(all.graph.tensors.size()) - 1;
}

std::string name_of(const OnnxTensor& stored) { return std::string(stored.name.substr(0, 1000)); }

// A vector of equal values that several layers share was one per layer before the exporter
// merged them.
TensorId own_copy(const OnnxCall& call, const OnnxValue& value) {
  OnnxTranslation& all = call.all();
  const bool renamed = value.name != value.stored->name;  // old exporters name each copy
  std::string name(value.name.substr(0, 1000));
  const auto first = all.placed.find(value.stored);
  const std::string layer = renamed ? name : call.path();
  const auto [copy, added] = all.copies.try_emplace({value.stored, layer}, TensorId{});
  if (!added) return copy->second;
  if (first != all.placed.end()) {
    ++all.merged_parameters;
    if (!renamed) name = layer + "." + name.substr(name.find_last_of("./") + 1);
  }
  copy->second = add_tensor(all, name, value.shape, value.type, true);
  all.placed.try_emplace(value.stored, OnnxPlaced{copy->second, false});
  return copy->second;
}

// A weight that the same layer of another block uses, such as layers.0.fc and layers.1.fc: blocks
// that start as copies of one have equal weights, which exporters merge though each is trained.
// A layer that runs twice has one path.
TensorId copy_of_block(const OnnxCall& call, const OnnxPlaced& first, const OnnxTensor& stored) {
  OnnxTranslation& all = call.all();
  const std::string layer = call.path();
  if (!are_sibling_layers(first.layer, layer)) return first.tensor;
  const auto [copy, added] = all.copies.try_emplace({&stored, layer}, TensorId{});
  if (added) {
    const graph::Tensor like = all.graph.tensor(first.tensor);
    const std::string name = layer + "." + like.name.substr(like.name.find_last_of("./") + 1);
    copy->second = add_tensor(all, name, like.shape, like.type, true);
    ++all.merged_parameters;
  }
  return copy->second;
}

TensorId turn(const OnnxCall& call, TensorId id) {
  return call.emit(Kind::Transpose, {id}, {{graph::Attr::Axes, {1, 0}}});
}

TensorId place(const OnnxCall& call, const OnnxValue& value, bool transposed, Slot slot) {
  OnnxTranslation& all = call.all();
  const OnnxTensor& stored = *value.stored;
  const bool learned = is_learned(call, value, slot);
  if (learned && stored.uniform && value.shape.rank() == 1) return own_copy(call, value);
  auto found = all.placed.find(&stored);
  if (found == all.placed.end()) {
    Shape shape = value.shape;
    if (transposed != value.transposed) std::swap(shape[0], shape[1]);
    const std::string name = name_of(stored).empty() ? std::string(value.name) : name_of(stored);
    const TensorId id = add_tensor(all, name, shape, value.type, learned);
    found = all.placed.emplace(&stored, OnnxPlaced{id, transposed, call.path()}).first;
  } else if (learned && all.graph.tensor(found->second.tensor).role == Role::Buffer) {
    graph::Tensor& tensor = all.graph.tensor(found->second.tensor);
    tensor.role = Role::Parameter;  // an earlier use did not show it
    tensor.trainable = true;
  }
  const TensorId id = learned ? copy_of_block(call, found->second, stored) : found->second.tensor;
  return found->second.transposed == transposed ? id : turn(call, id);
}

std::string_view element(OnnxFiles& files, const OnnxTensor& matrix, std::uint64_t row,
                         std::uint64_t column) {
  const auto columns = static_cast<std::uint64_t>(matrix.dims[1]);
  const std::uint64_t size =
      matrix.raw.size() / (static_cast<std::uint64_t>(matrix.dims[0]) * columns);
  const std::string_view bytes = matrix.raw.substr((row * columns + column) * size, size);
  files.load(bytes);
  return bytes;
}

// Whether one matrix is the other turned, judged by a sample of values that are not all alike.
bool is_turned_copy(OnnxFiles& files, const OnnxTensor& a, const OnnxTensor& b) {
  if (a.type != b.type || a.dims.size() != 2 || b.dims.size() != 2) return false;
  if (a.dims[0] != b.dims[1] || a.dims[1] != b.dims[0]) return false;
  if (a.raw.empty() || a.raw.size() != b.raw.size()) return false;
  std::uint64_t state = 1;
  bool differ = false;
  const std::string_view first = element(files, a, 0, 0);
  for (int i = 0; i < kSamples; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    const std::uint64_t row = (state >> 33U) % static_cast<std::uint64_t>(a.dims[0]);
    const std::uint64_t column = (state >> 13U) % static_cast<std::uint64_t>(a.dims[1]);
    if (element(files, a, row, column) != element(files, b, column, row)) return false;
    differ = differ || element(files, a, row, column) != first;
  }
  return differ;
}

}  // namespace

Shape shape_of(const OnnxTensor& tensor) {
  Shape shape;
  for (const std::int64_t dim : tensor.dims) {
    if (dim < 0)
      throw Error(ErrorKind::BadInput,
                  "tensor '" + printable(tensor.name) + "' has a negative dimension");
    shape.push_back(Dim(dim));
  }
  return shape;
}

OnnxValue stored_value(const OnnxTranslation& all, const OnnxTensor& tensor, bool from_constant) {
  OnnxValue value;
  value.name = tensor.name;
  value.from_constant = from_constant;
  value.shape = shape_of(tensor);
  value.type = type_of_onnx(tensor.type);
  value.stored = &tensor;
  const Dim count = elements(value.shape);
  for (const std::int64_t number : tensor.integers) value.content.emplace_back(number);
  for (const double number : tensor.reals) value.content.push_back(Scalar::from_real(number));
  const auto kind = all.torch_kinds.find(tensor.name);
  const bool parameter = kind != all.torch_kinds.end() && kind->second == "PARAMETER";
  // A learned value is not a constant to compute with, however small.
  const bool constant = from_constant || !is_floating(value.type) ||
                        (count.factor <= 1 && !parameter && !sounds_learned(tensor.name));
  const bool known = constant && static_cast<std::int64_t>(value.content.size()) == count.factor;
  if (known) value.known = OnnxValue::Known::All;
  if (!known) value.content.clear();
  value.parts = {{&tensor, count.factor}};
  return value;
}

TensorId add_buffer(OnnxTranslation& all, std::string_view name, const Shape& shape, DType type) {
  return add_tensor(all, std::string(name.substr(0, 1000)), shape, type, false);
}

TensorId tensor_of(const OnnxCall& call, OnnxValue& value) {
  if (value.is_sequence) OnnxCall::fail_unsupported("a sequence where a tensor belongs");
  if (value.tensor) return *value.tensor;
  if (value.stored != nullptr) return place(call, value, value.transposed, Slot::Any);
  value.tensor = add_buffer(call.all(), value.name, value.shape, value.type);
  return *value.tensor;
}

TensorId weight_of(const OnnxCall& call, OnnxValue& value) {
  if (value.stored == nullptr || value.tensor) return tensor_of(call, value);
  return place(call, value, value.transposed, Slot::Weight);
}

TensorId turned_weight_of(const OnnxCall& call, OnnxValue& value) {
  OnnxTranslation& all = call.all();
  const OnnxTensor& stored = *value.stored;
  if (!all.placed.contains(&stored)) {
    call.charge(all.tables.size());
    for (const OnnxTensor* table : all.tables) {
      if (!is_turned_copy(*all.model.files, stored, *table)) continue;
      const OnnxPlaced placed = all.placed.at(table);
      all.placed.emplace(&stored, OnnxPlaced{placed.tensor, !placed.transposed});
      ++all.tied_parameters;
      break;
    }
  }
  return place(call, value, !value.transposed, Slot::Weight);
}

TensorId statistics_of(const OnnxCall& call, OnnxValue& value) {
  if (value.stored == nullptr || value.tensor) return tensor_of(call, value);
  const bool renamed = value.name != value.stored->name;
  const std::string layer = (renamed ? std::string(value.name) : call.path()) + " statistics";
  const auto [copy, added] = call.all().copies.try_emplace({value.stored, layer}, TensorId{});
  if (added) copy->second = add_buffer(call.all(), value.name, value.shape, value.type);
  return copy->second;
}

std::vector<TensorId> whole_parts(const OnnxCall& call, const OnnxValue& value) {
  call.charge(value.parts.size() * value.parts.size() / 16);  // compared pairwise, each in no time
  std::vector<OnnxPart> whole;
  for (const OnnxPart& part : value.parts) {
    const auto same = std::find_if(whole.begin(), whole.end(), [&](const OnnxPart& other) {
      return other.stored == part.stored;
    });
    if (same == whole.end()) {
      whole.push_back(part);
    } else {
      same->elements += part.elements;
    }
  }
  std::vector<TensorId> result;
  for (const OnnxPart& part : whole) {
    OnnxValue stored = stored_value(call.all(), *part.stored, false);
    if (elements(stored.shape) != Dim(part.elements)) return {};
    result.push_back(weight_of(call, stored));
  }
  return result;
}

}  // namespace foretrain::importer

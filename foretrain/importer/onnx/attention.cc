// SPDX-License-Identifier: Apache-2.0
// Attention as one operator: ONNX's own and those of ONNX Runtime.
#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/graph/rules.h"
#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::string_view kMicrosoft = "com.microsoft";

// [batch, length, heads * size] as [batch, heads, length, size].
TensorId split_heads(const OnnxCall& call, TensorId id, std::int64_t heads) {
  const Shape x = call.shape_of(id);
  if (x.rank() == 4) return id;
  Dim size;
  if (x.rank() != 3 || heads < 1 || !divides(Dim(heads), x[2], size)) {
    OnnxCall::fail("the heads do not divide the width");
  }
  return call.transpose(call.reshape(id, {x[0], x[1], Dim(heads), size}), {0, 2, 1, 3});
}

TensorId merge_heads(const OnnxCall& call, TensorId id) {
  const Shape x = call.shape_of(id);
  const TensorId turned = call.emit(Kind::Contiguous, {call.transpose(id, {0, 2, 1, 3})});
  return call.reshape(turned, {x[0], x[2], x[1] * x[3]});
}

struct Heads {
  TensorId query;
  TensorId key;
  TensorId value;
};

// `mask`: the input that is added to the scores. One that could be learned goes in; another
// only costs its addition.
TensorId attend(const OnnxCall& call, const Heads& heads, bool causal, int mask) {
  Attributes attributes;
  if (causal) attributes.set(Attr::Causal, {Dim(1)});
  std::vector<TensorId> inputs{heads.query, heads.key, heads.value};
  if (call.has(mask)) {
    const TensorId id = call.tensor(mask);
    const graph::Tensor& tensor = call.all().graph.tensor(id);
    const Shape q = call.shape_of(heads.query);
    const Shape scores{q[0], q[1], q[2], call.shape_of(heads.key)[2]};
    const bool learned = tensor.role != graph::Role::Buffer && tensor.role != graph::Role::Input &&
                         is_floating(tensor.type) && tensor.shape.rank() <= 4;
    if (learned && graph::broadcast(scores, tensor.shape) == scores) {
      inputs.push_back(id);
    } else {
      attributes.set(Attr::Mask, {Dim(1)});
    }
  }
  return call.emit(Kind::Attention, inputs, attributes);
}

void note_once(const OnnxCall& call, const std::string& note) {
  std::vector<std::string>& notes = call.all().graph.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

TensorId after(const OnnxCall& call, int past, TensorId now) {
  if (!call.has(past)) return now;
  return call.emit(Kind::Concat, {call.tensor(past), now}, {{Attr::Axis, {Dim(2)}}});
}

void attention(const OnnxCall& call, Kind /*kind*/) {
  const bool flat = call.rank(0) == 3;
  Heads heads{split_heads(call, call.tensor(0), call.integer("q_num_heads", 0)),
              split_heads(call, call.tensor(1), call.integer("kv_num_heads", 0)),
              split_heads(call, call.tensor(2), call.integer("kv_num_heads", 0))};
  heads.key = after(call, 4, heads.key);
  heads.value = after(call, 5, heads.value);
  const TensorId y = attend(call, heads, call.integer("is_causal", 0) != 0, 3);
  call.give(0, flat ? merge_heads(call, y) : y);
  call.give(1, heads.key);
  call.give(2, heads.value);
}

// Input, weights of [width, 3 * hidden] and bias: the projections are part of it.
void packed_attention(const OnnxCall& call, Kind /*kind*/) {
  const std::int64_t count = call.integer("num_heads", 0);
  OnnxValue& weights = call.in(1);
  if (call.has(4) || weights.shape.rank() != 2 || call.rank(0) != 3) return translate_unknown(call);
  std::vector<Dim> sizes;
  for (const std::int64_t size : call.integers("qkv_hidden_sizes")) sizes.emplace_back(size);
  Dim third;
  if (sizes.empty() && divides(Dim(3), weights.shape[1], third)) sizes = {third, third, third};
  if (sizes.size() != 3) OnnxCall::fail("the weights are not those of query, key and value");
  TensorId qkv{};
  if (weights.stored != nullptr && !weights.tensor) {
    std::vector<TensorId> inputs{call.tensor(0), turned_weight_of(call, weights)};
    if (call.has(2)) inputs.push_back(call.weight(2));
    qkv = call.emit(Kind::Linear, inputs);
  } else {
    qkv = call.emit(Kind::MatMul, {call.tensor(0), call.tensor(1)});
    if (call.has(2)) qkv = call.emit(Kind::Add, {qkv, call.weight(2)});
  }
  const std::vector<TensorId> parts =
      call.emit_all(Kind::Split, {qkv}, {{Attr::Axis, {Dim(2)}}, {Attr::Sizes, sizes}});
  const Heads heads{split_heads(call, parts[0], count), split_heads(call, parts[1], count),
                    split_heads(call, parts[2], count)};
  const TensorId y = attend(call, heads, call.integer("unidirectional", 0) != 0, 5);
  call.give(0, merge_heads(call, y));
}

// The part of a bias that belongs to query, key or value, added.
TensorId biased(const OnnxCall& call, TensorId id, std::int64_t& start) {
  const Shape shape = call.shape_of(id);
  if (!call.has(3) || shape.rank() != 3) return id;
  const std::int64_t width = shape[2].factor;
  const TensorId part = emit_slice(call, call.weight(3), 0, start, start + width);
  start += width;
  return call.emit(Kind::Add, {id, part});
}

void multi_head_attention(const OnnxCall& call, Kind /*kind*/) {
  const std::int64_t count = call.integer("num_heads", 0);
  if (!call.has(1) || !call.has(2) || call.rank(0) != 3) return translate_unknown(call);
  std::int64_t start = 0;
  Heads heads{};
  heads.query = split_heads(call, biased(call, call.tensor(0), start), count);
  heads.key = split_heads(call, biased(call, call.tensor(1), start), count);
  heads.value = split_heads(call, biased(call, call.tensor(2), start), count);
  heads.key = after(call, 6, heads.key);
  heads.value = after(call, 7, heads.value);
  const TensorId y = attend(call, heads, call.integer("unidirectional", 0) != 0, 5);
  call.give(0, merge_heads(call, y));
  call.give(1, heads.key);
  call.give(2, heads.value);
}

void group_query_attention(const OnnxCall& call, Kind /*kind*/) {
  const std::int64_t count = call.integer("num_heads", 0);
  const std::int64_t keys = call.integer("kv_num_heads", count);
  if (call.rank(0) != 3 || count < 1 || keys < 1 || count > 65536 || keys > 65536) {
    OnnxCall::fail("takes [batch, length, width] and the numbers of heads");
  }
  std::vector<TensorId> qkv;
  if (call.has(1)) {
    qkv = {call.tensor(0), call.tensor(1), call.tensor(2)};
  } else {
    Dim size;
    if (!divides(Dim(count + 2 * keys), call.shape(0)[2], size))
      OnnxCall::fail("the heads do not divide the width");
    qkv = call.emit_all(Kind::Split, {call.tensor(0)},
                        {{Attr::Axis, {Dim(2)}},
                         {Attr::Sizes, {size * Dim(count), size * Dim(keys), size * Dim(keys)}}});
  }
  if (call.has(3))
    note_once(call, "attention: keys and values of earlier calls are left out, as in training");
  const Heads heads{split_heads(call, qkv[0], count), split_heads(call, qkv[1], keys),
                    split_heads(call, qkv[2], keys)};
  call.give(0, merge_heads(call, attend(call, heads, true, -1)));
  call.give(1, heads.key);
  call.give(2, heads.value);
}

// Its tables of angles are constants.
void rotary_embedding(const OnnxCall& call, Kind /*kind*/) {
  call.give(0, call.emit_opaque({call.tensor(0)}, {call.shape(0)}, call.in(0).type).front());
}

constexpr std::array kRules{
    OnnxRule{"Attention", attention},
    OnnxRule{"RotaryEmbedding", rotary_embedding},
    OnnxRule{"Attention", packed_attention, Kind::Attention, kMicrosoft},
    OnnxRule{"MultiHeadAttention", multi_head_attention, Kind::Attention, kMicrosoft},
    OnnxRule{"GroupQueryAttention", group_query_attention, Kind::Attention, kMicrosoft},
    OnnxRule{"RotaryEmbedding", rotary_embedding, Kind::Opaque, kMicrosoft},
};

}  // namespace

std::span<const OnnxRule> onnx_attention_rules() { return kRules; }

}  // namespace foretrain::importer

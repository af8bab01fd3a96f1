// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and plain recurrent layers. ONNX packs the weights of both directions into one
// tensor; here each direction has its own, as frameworks train them.
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

struct Layer {
  std::int64_t gates = 4;
  std::int64_t hidden = 0;
  int directions = 1;
  bool batch_first = false;
  Dim time;
  Dim batch;
};

using Suffixes = std::vector<std::string>;

TensorId add_piece(OnnxTranslation& all, const std::string& name, const Shape& shape, DType type) {
  all.graph.tensors.push_back({name, shape, type, graph::Role::Parameter, true});
  return static_cast<TensorId>(all.graph.tensors.size()) - 1;
}

bool all_shaped(const OnnxCall& call, const std::vector<TensorId>& ids, const Shape& each) {
  for (const TensorId id : ids) {
    if (!(call.shape_of(id) == each)) return false;
  }
  return true;
}

// The pieces, each of one shape, that input i packs one after another; one per suffix.
std::vector<TensorId> pieces_of(const OnnxCall& call, int i, const Shape& each,
                                const Suffixes& suffixes) {
  OnnxTranslation& all = call.all();
  const OnnxValue& value = call.in(i);
  const auto count = static_cast<std::int64_t>(suffixes.size());
  if (!(elements(value.shape) == elements(each) * Dim(count))) {
    OnnxCall::fail("input " + std::to_string(i) + " does not fit the layer's size");
  }
  if (value.stored != nullptr && !value.tensor && is_floating(value.type)) {
    std::vector<TensorId>& ids = all.split[value.stored];
    if (ids.empty()) {
      const std::string name(value.stored->name.empty() ? value.name : value.stored->name);
      for (const std::string& suffix : suffixes) {
        ids.push_back(add_piece(all, name.substr(0, 1000) + suffix, each, value.type));
      }
    }
    if (static_cast<std::int64_t>(ids.size()) == count && all_shaped(call, ids, each)) return ids;
  }
  std::vector<TensorId> parts = whole_parts(call, value);
  if (static_cast<std::int64_t>(parts.size()) == count && all_shaped(call, parts, each))
    return parts;
  Shape stacked{Dim(count)};
  for (const Dim& dim : each.dims()) stacked.push_back(dim);
  const TensorId whole = call.reshape(call.weight(i), stacked);
  std::vector<TensorId> pieces;
  for (std::int64_t k = 0; k < count; ++k) {
    pieces.push_back(call.reshape(emit_slice(call, whole, 0, k, k + 1), each));
  }
  return pieces;
}

Layer layer_of(const OnnxCall& call) {
  const std::string_view op = call.node().op_type;
  const Shape& x = call.shape(0);
  const Shape& recurrent = call.shape(2);
  if (x.rank() != 3 || recurrent.rank() != 3) OnnxCall::fail("takes tensors of rank 3");
  Layer layer;
  layer.gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  layer.hidden = call.integer("hidden_size", recurrent[2].factor);
  layer.directions = call.text("direction", "forward") == "bidirectional" ? 2 : 1;
  layer.batch_first = call.integer("layout", 0) != 0;
  layer.time = x[layer.batch_first ? 1 : 0];
  layer.batch = x[layer.batch_first ? 0 : 1];
  if (layer.hidden < 1 || layer.hidden > (std::int64_t{1} << 30))
    OnnxCall::fail("'hidden_size' is absurd");
  return layer;
}

TensorId last_step(const OnnxCall& call, const Layer& layer, TensorId y) {
  const int axis = layer.batch_first ? 1 : 0;
  if (is_number(layer.time)) {
    return emit_slice(call, y, axis, layer.time.factor - 1, layer.time.factor);
  }
  const TensorId index = add_buffer(call.all(), "last", {Dim(1)}, DType::I64);
  return call.emit(Kind::Gather, {y, index}, {{Attr::Axis, {Dim(axis)}}});
}

// Y, Y_h and Y_c from what the layer gives: [time, batch, directions * hidden] and the states.
void give_outputs(const OnnxCall& call, const Layer& layer, const std::vector<TensorId>& outputs) {
  const Dim directions(layer.directions);
  const Dim hidden(layer.hidden);
  if (call.wants(0)) {
    const Shape apart{call.shape(0)[0], call.shape(0)[1], directions, hidden};
    const TensorId y = call.reshape(outputs[0], apart);
    call.give(0, layer.batch_first ? y : call.transpose(y, {0, 2, 1, 3}));
  }
  // From the output, not the states: that is where gradients flow.
  if (call.wants(1)) {
    const TensorId last = last_step(call, layer, outputs[0]);
    const TensorId apart = call.reshape(last, {layer.batch, directions, hidden});
    call.give(1, layer.batch_first ? apart : call.transpose(apart, {1, 0, 2}));
  }
  if (call.wants(2) && layer.gates == 4) {
    const TensorId cells = emit_slice(call, outputs[1], 0, layer.directions, 2 * layer.directions);
    call.give(2, layer.batch_first ? call.transpose(cells, {1, 0, 2}) : cells);
  }
}

void recurrent(const OnnxCall& call, Kind kind) {
  const Layer layer = layer_of(call);
  const Dim rows(layer.gates * layer.hidden);
  const Dim features = call.shape(0)[2];
  const bool both = layer.directions == 2;
  const Suffixes each_way = both ? Suffixes{"", "_reverse"} : Suffixes{""};
  const Suffixes biases =
      both ? Suffixes{".ih", ".hh", ".ih_reverse", ".hh_reverse"} : Suffixes{".ih", ".hh"};
  const std::vector<TensorId> w = pieces_of(call, 1, {rows, features}, each_way);
  const std::vector<TensorId> r = pieces_of(call, 2, {rows, Dim(layer.hidden)}, each_way);
  std::vector<TensorId> b;
  if (call.has(3)) b = pieces_of(call, 3, {rows}, biases);
  std::vector<TensorId> inputs{call.tensor(0)};
  for (std::size_t d = 0; d < w.size(); ++d) {
    inputs.push_back(w[d]);
    inputs.push_back(r[d]);
    if (!b.empty()) inputs.insert(inputs.end(), {b[2 * d], b[2 * d + 1]});
  }
  Attributes attributes{{Attr::Gates, {Dim(layer.gates)}},
                        {Attr::Hidden, {Dim(layer.hidden)}},
                        {Attr::Layers, {Dim(1)}},
                        {Attr::Directions, {Dim(layer.directions)}}};
  if (layer.batch_first) attributes.set(Attr::BatchFirst, {Dim(1)});
  give_outputs(call, layer, call.emit_all(kind, inputs, attributes));
}

constexpr std::array kRules{
    OnnxRule{"LSTM", recurrent, Kind::Recurrent},
    OnnxRule{"GRU", recurrent, Kind::Recurrent},
    OnnxRule{"RNN", recurrent, Kind::Recurrent},
};

}  // namespace

std::span<const OnnxRule> onnx_recurrent_rules() { return kRules; }

}  // namespace foretrain::importer

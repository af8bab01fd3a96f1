// SPDX-License-Identifier: Apache-2.0
// Source: transformers, modeling_llama.py (LlamaRMSNorm, ForCausalLMLoss); PEFT, tuners/lora;
// bitsandbytes, functional.py (quantize_4bit, int8_vectorwise_quant) and autograd; AutoGPTQ,
// nn_modules/qlinear/qlinear_cuda_old.py.
#include <string>
#include <utility>

#include "foretrain/graph/builder.h"
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

constexpr std::int64_t kBlock = 64;         // values of a 4-bit weight that share a scale
constexpr std::int64_t kNestedBlock = 256;  // scales, kept in bytes, that share one in fp32

std::int64_t blocks(std::int64_t values, std::int64_t block) {
  return (values + block - 1) / block;
}

// Weights that are quantised: frozen matrices that only linear layers read; that of the last layer,
// which predicts tokens or classes, only where `head` says so.
std::vector<bool> quantised_weights(const Graph& model, bool head) {
  std::vector<bool> quantised(model.tensors.size(), false);
  const Node* last = nullptr;
  for (const Node& node : model.nodes) {
    if (node.kind != Kind::Linear) continue;
    const Tensor& weight = model.tensor(node.inputs[1]);
    if (weight.role != Role::Parameter || weight.trainable || !is_floating(weight.type)) continue;
    quantised[static_cast<std::size_t>(node.inputs[1])] = true;
    last = &node;
  }
  for (const Node& node : model.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool weight = node.kind == Kind::Linear && i == 1 && (head || &node != last);
      if (!weight) quantised[static_cast<std::size_t>(node.inputs[i])] = false;
    }
  }
  return quantised;
}

class Storing {
 public:
  Storing(const Graph& model, const WeightStorage& storage)
      : model_(model), storage_(storage), rewrite_(model), scales_(model.tensors.size()) {
    if (is_quantised(storage.weights)) {
      quantised_ = quantised_weights(model, storage.quantised_head);
    }
    quantised_.resize(model.tensors.size(), false);
    for (std::size_t t = 0; t < model.tensors.size(); ++t) store(static_cast<TensorId>(t));
  }

  Graph run() {
    for (const Node& node : model_.nodes) add(node);
    return rewrite_.finish();
  }

 private:
  bool half(TensorId id) { return rewrite_.graph().tensor(id).type == storage_.type; }
  bool full(TensorId id) { return rewrite_.graph().tensor(id).type == DType::F32; }

  void store(TensorId old) {
    const Tensor& before = model_.tensor(old);
    if (before.role == Role::Activation || !is_floating(before.type)) return;
    Tensor& tensor = rewrite_.graph().tensor(rewrite_.now(old));
    tensor.type = storage_.adapters && before.trainable ? storage_.adapter : storage_.type;
    if (!quantised_[static_cast<std::size_t>(old)]) return;
    const bool bytes = storage_.weights == Weights::Int8;
    tensor.type = bytes ? DType::I8 : DType::NF4;
    const std::string name = tensor.name;
    const std::int64_t values = elements(before.shape).factor;
    if (bytes) return add_scales(old, name + ".SCB", before.shape[0].factor, DType::F32);
    if (storage_.single_scales) {
      return add_scales(old, name + ".absmax", blocks(values, kBlock), DType::F32);
    }
    add_scales(old, name + ".absmax", blocks(values, kBlock), DType::I8);
    add_scales(old, name + ".nested_absmax", blocks(blocks(values, kBlock), kNestedBlock),
               DType::F32);
  }

  void add_scales(TensorId old, const std::string& name, std::int64_t count, DType type) {
    Graph& graph = rewrite_.graph();
    graph.tensors.push_back({name, Shape{count}, type, Role::Buffer, false});
    scales_[static_cast<std::size_t>(old)].push_back(static_cast<TensorId>(graph.tensors.size()) -
                                                     1);
  }

  void add(const Node& node) {
    if (storage_.elementary_norms && node.kind == Kind::RmsNorm && node.inputs.size() == 2) {
      return add_rms_norm(node);
    }
    std::vector<TensorId> inputs = rewrite_.now(node.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (quantised_[static_cast<std::size_t>(node.inputs[i])]) {
        inputs[i] = dequantised(node, node.inputs[i]);
      }
    }
    const bool full_loss = storage_.elementary_norms && !storage_.half_loss;
    if (op(node).family == Family::Loss && full_loss && half(inputs[0])) {
      inputs[0] = cast(inputs[0], DType::F32, node.scope);
    }
    const bool product = op(node).family == Family::Matrix;
    if (product && half(inputs[0]) && full(inputs[1])) adapt_types(node, inputs);
    const bool joins = node.kind == Kind::Add && inputs.size() == 2 &&
                       half(inputs[0]) != half(inputs[1]) && full(inputs[0]) != full(inputs[1]);
    rewrite_.keep(node, inputs);
    if (storage_.half_loss && node.kind == Kind::CrossEntropy) {
      rewrite_.retype_saved(node, storage_.type);  // 16-bit log-probabilities
    }
    if (joins) {
      const TensorId sum = rewrite_.now(node.outputs[0]);
      rewrite_.becomes(node.outputs[0], cast(sum, storage_.type, node.scope));
    }
  }

  // An adapter's product. PEFT casts what the first factor reads to the adapter's type, autocast
  // takes it and the factor back to 16 bits.
  void adapt_types(const Node& node, std::vector<TensorId>& inputs) {
    if (!storage_.autocast_adapters) {
      inputs[0] = cast(inputs[0], DType::F32, node.scope);
      return;
    }
    const Shape& factor = rewrite_.graph().tensor(inputs[1]).shape;
    if (factor[0].factor < factor[1].factor) {
      inputs[0] = cast(cast(inputs[0], DType::F32, node.scope), storage_.type, node.scope);
    }
    inputs[1] = cast(inputs[1], storage_.type, node.scope);
  }

  TensorId dequantised(const Node& node, TensorId weight) {
    std::vector<TensorId> inputs{rewrite_.now(weight)};
    for (const TensorId id : scales_[static_cast<std::size_t>(weight)]) inputs.push_back(id);
    if (storage_.elementary_dequantise) return unpacked(std::move(inputs), node.scope);
    const DType type = storage_.dequantises_in_fp16 ? DType::F16 : storage_.type;
    const TensorId values = add(Kind::Dequantize, std::move(inputs), node.scope, typed(type));
    return cast(values, storage_.type, node.scope);
  }

  // Shift into 32-bit integers, cast to 8, mask, subtract zeros, multiply by scales. Autograd takes
  // the result for any tensor: the product saves it.
  TensorId unpacked(std::vector<TensorId> inputs, const std::string& scope) {
    TensorId id = add(Kind::Dequantize, std::move(inputs), scope, typed(DType::I32));
    id = add(Kind::Cast, {id}, scope, typed(DType::I8));
    id = add(Kind::Clip, {id}, scope, {{Attr::Inplace, {Dim(1)}}});
    id = add(Kind::Shift, {id}, scope);
    return add(Kind::Cast, {id}, scope, typed(storage_.type));
  }

  // w (x / sqrt(mean(x^2) + e)), between casts to fp32 and back, one operator after the other.
  void add_rms_norm(const Node& node) {
    const std::string& scope = node.scope;
    const TensorId x = cast(rewrite_.now(node.inputs[0]), DType::F32, scope);
    const TensorId square = add(Kind::Pow, {x}, scope);
    const int last = rewrite_.graph().tensor(x).shape.rank() - 1;
    const TensorId mean =
        add(Kind::Mean, {square}, scope, {{Attr::Axes, {Dim(last)}}, {Attr::KeepDims, {Dim(1)}}});
    const TensorId root = add(Kind::Rsqrt, {add(Kind::Shift, {mean}, scope)}, scope);
    const TensorId normed = cast(add(Kind::Mul, {x, root}, scope), storage_.type, scope);
    rewrite_.becomes(node.outputs[0],
                     add(Kind::Mul, {rewrite_.now(node.inputs[1]), normed}, scope));
  }

  static Attributes typed(DType type) {
    return {{Attr::Type, {Dim(static_cast<std::int64_t>(type))}}};
  }

  TensorId cast(TensorId id, DType type, const std::string& scope) {
    if (rewrite_.graph().tensor(id).type == type) return id;
    return add(Kind::Cast, {id}, scope, typed(type));
  }

  TensorId add(Kind kind, std::vector<TensorId> inputs, const std::string& scope,
               Attributes attributes = {}) {
    return append_one(rewrite_.graph(), kind, std::move(inputs), scope, std::move(attributes));
  }

  const Graph& model_;
  const WeightStorage& storage_;
  Rewrite rewrite_;
  std::vector<bool> quantised_;                // of each tensor of the model
  std::vector<std::vector<TensorId>> scales_;  // likewise
};

}  // namespace

Graph store_weights(const Graph& model, const WeightStorage& storage) {
  return Storing(model, storage).run();
}

}  // namespace foretrain::graph

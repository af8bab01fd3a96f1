// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/builder.h"
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

DType half_type(Precision precision) {
  return precision == Precision::Fp16 ? DType::F16 : DType::BF16;
}

// One group per channel: PyTorch runs an instance norm as a batch norm, which autocast leaves
// alone.
bool is_instance_norm(const Graph& model, const Node& node) {
  if (node.kind != Kind::GroupNorm) return false;
  const Dim& channels = model.tensor(node.inputs[0]).shape[1];
  return channels == Dim(node.attributes.number(Attr::Groups, 1));
}

// The cast of each parameter is made once per forward pass and shared; activations are cast
// anew for every consumer, as PyTorch's autocast does.
class Autocasting {
 public:
  Autocasting(const Graph& model, DType type, Casting casting, bool half_loss)
      : rewrite_(model),
        type_(type),
        half_norms_(casting == Casting::HalfNorms),
        half_loss_(half_loss),
        cached_(model.tensors.size() + 1, -1) {}

  void add(const Node& node) {
    std::vector<TensorId> inputs = rewrite_.now(node.inputs);
    const Autocast rule = rule_of(node);
    if (rule != Autocast::Follow) {
      const DType wanted = rule == Autocast::Half ? type_ : DType::F32;
      for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = cast(inputs[i], wanted, node);
    }
    rewrite_.keep(node, inputs);
    if (reads_half_logits(node)) rewrite_.retype_saved(node, type_);
  }

  Graph finish() { return rewrite_.finish(); }

 private:
  bool reads_half_logits(const Node& node) const {
    return half_loss_ && node.kind == Kind::CrossEntropy;
  }

  Autocast rule_of(const Node& node) {
    if (is_instance_norm(rewrite_.graph(), node) || reads_half_logits(node)) {
      return Autocast::Follow;
    }
    const bool norm = node.kind == Kind::LayerNorm || node.kind == Kind::RmsNorm;
    return norm && half_norms_ ? Autocast::Half : op(node).autocast;
  }

  TensorId cast(TensorId id, DType wanted, const Node& node) {
    const Tensor tensor = rewrite_.graph().tensor(id);
    if (!is_floating(tensor.type) || tensor.type == wanted || tensor.role == Role::Buffer) {
      return id;
    }
    const bool parameter = tensor.role == Role::Parameter;
    if (parameter && cached_[static_cast<std::size_t>(id)] >= 0) {
      return cached_[static_cast<std::size_t>(id)];
    }
    Node cast;
    cast.kind = Kind::Cast;
    cast.inputs = {id};
    cast.scope = node.scope;
    cast.attributes.set(Attr::Type, {Dim(static_cast<std::int64_t>(wanted))});
    const TensorId result = append(rewrite_.graph(), std::move(cast)).front();
    if (parameter) cached_[static_cast<std::size_t>(id)] = result;
    return result;
  }

  Rewrite rewrite_;
  DType type_;
  bool half_norms_;
  bool half_loss_;
  std::vector<TensorId> cached_;
};

// Every floating-point tensor gets `type`, except what operators keep in fp32 themselves.
Graph store_as(const Graph& model, DType type) {
  Rewrite rewrite(model);
  for (Tensor& tensor : rewrite.graph().tensors) {
    if (is_floating(tensor.type)) tensor.type = type;
  }
  for (const Node& node : model.nodes) rewrite.keep(node);
  return rewrite.finish();
}

}  // namespace

Graph with_half_parameters(Graph model, Precision precision) {
  for (Tensor& tensor : model.tensors) {
    if (tensor.role == Role::Parameter && is_floating(tensor.type)) {
      tensor.type = half_type(precision);
    }
  }
  return model;
}

Graph set_precision(const Graph& model, Precision precision, Casting casting, bool half_loss) {
  switch (precision) {
    case Precision::Fp32:
    case Precision::Tf32:
      return model;
    case Precision::Fp64:
      return store_as(model, DType::F64);
    default:
      break;
  }
  if (casting == Casting::WholeModel) return store_as(model, half_type(precision));
  Autocasting autocasting(model, half_type(precision), casting, half_loss);
  for (const Node& node : model.nodes) autocasting.add(node);
  return autocasting.finish();
}

}  // namespace foretrain::graph

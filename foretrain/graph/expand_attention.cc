// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/builder.h"
#include "foretrain/graph/cpu_attention.h"
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

class Expansion {
 public:
  Expansion(Rewrite& rewrite, const Node& node) : rewrite_(rewrite), node_(node) {}

  // softmax(mask(q k' / sqrt(d))) v
  void run() {
    const TensorId query = input(0);
    const TensorId key = heads_like_query(input(1), query);
    const TensorId value = heads_like_query(input(2), query);
    TensorId scores = add(Kind::MatMul, {query, key}, {{Attr::TransposeB, {Dim(1)}}});
    scores = add(Kind::Scale, {scores});
    if (flag(Attr::Causal)) scores = add(Kind::Where, {mask(scores, DType::Bool), scores});
    if (node_.inputs.size() > 3) {
      scores = add(Kind::Add, {scores, input(3)});
    } else if (flag(Attr::Mask)) {
      scores = add(Kind::Add, {scores, mask(scores, DType::F32)});
    }
    TensorId probabilities = add(Kind::Softmax, {scores}, {{Attr::Axis, {Dim(-1)}}});
    if (flag(Attr::Dropout)) probabilities = add(Kind::Dropout, {probabilities});
    rewrite_.becomes(node_.outputs[0], add(Kind::MatMul, {probabilities, value}));
  }

 private:
  TensorId input(int i) const { return rewrite_.now(node_.inputs[static_cast<std::size_t>(i)]); }
  bool flag(Attr key) const { return node_.attributes.number(key, 0) != 0; }

  TensorId add(Kind kind, std::vector<TensorId> inputs, Attributes attributes = {}) {
    return append_one(rewrite_.graph(), kind, std::move(inputs), node_.scope,
                      std::move(attributes));
  }

  // A mask is the same for all heads: [1, 1, queries, keys], or [batch, 1, 1, keys] for padding.
  TensorId mask(TensorId scores, DType type) {
    const Shape shape = rewrite_.graph().tensor(scores).shape;
    Tensor tensor;
    tensor.name = type == DType::Bool ? "causal_mask" : "attention_mask";
    tensor.shape =
        type == DType::Bool ? Shape{1, 1, shape[2], shape[3]} : Shape{shape[0], 1, 1, shape[3]};
    tensor.type = type;
    tensor.role = Role::Buffer;
    rewrite_.graph().tensors.push_back(tensor);
    return static_cast<TensorId>(rewrite_.graph().tensors.size()) - 1;
  }

  // Fewer key heads than query heads are repeated: a view, then a copy.
  TensorId heads_like_query(TensorId id, TensorId query) {
    const Shape shape = rewrite_.graph().tensor(id).shape;
    const Shape wanted = rewrite_.graph().tensor(query).shape;
    if (shape[1] == wanted[1]) return id;
    Dim repeats;
    divides(shape[1], wanted[1], repeats);
    const TensorId lifted =
        add(Kind::Reshape, {id}, {{Attr::Shape, {shape[0], shape[1], Dim(1), shape[2], shape[3]}}});
    const TensorId spread = add(Kind::Expand, {lifted},
                                {{Attr::Shape, {shape[0], shape[1], repeats, shape[2], shape[3]}}});
    const TensorId copied = add(Kind::Contiguous, {spread});
    return add(Kind::Reshape, {copied}, {{Attr::Shape, {shape[0], wanted[1], shape[2], shape[3]}}});
  }

  Rewrite& rewrite_;
  const Node& node_;
};

using IsFused = bool (*)(const Graph&, const Node&);

Graph expand_unless(IsFused fused, const Graph& model) {
  std::vector<bool> read(model.tensors.size(), false);
  for (const Node& node : model.nodes) {
    for (const TensorId id : node.inputs) read[static_cast<std::size_t>(id)] = true;
  }
  for (const TensorId id : model.outputs) read[static_cast<std::size_t>(id)] = true;
  if (model.loss) read[static_cast<std::size_t>(*model.loss)] = true;
  Rewrite rewrite(model);
  for (const Node& node : model.nodes) {
    // Statistics that somebody reads exist only while attention is one operator.
    if (node.kind == Kind::Attention && !read[static_cast<std::size_t>(node.outputs[1])] &&
        !fused(model, node)) {
      Expansion(rewrite, node).run();
    } else {
      rewrite.keep(node);
    }
  }
  return rewrite.finish();
}

bool has_cpu_kernel(const Graph& model, const Node& node) {
  const Shape& queries = model.tensor(node.inputs[0]).shape;
  const Shape& keys = model.tensor(node.inputs[1]).shape;
  return node.attributes.number(Attr::Dropout, 0) == 0 && queries[1] == keys[1];
}

}  // namespace

Graph expand_attention(const Graph& model) {
  return expand_unless([](const Graph&, const Node&) { return false; }, model);
}

Graph expand_attention_for_cpu(const Graph& model) { return expand_unless(has_cpu_kernel, model); }

}  // namespace foretrain::graph
